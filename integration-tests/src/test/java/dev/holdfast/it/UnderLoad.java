package dev.holdfast.it;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.ExtendWith;

/** Fifty times in a row while all cores are kept busy: part of the longer proof. */
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.METHOD)
@RepeatedTest(50)
@Tag("soak")
@ExtendWith(BusyCores.class)
@interface UnderLoad {}
