package dev.holdfast.examples.shop;

import java.time.Duration;
import org.springframework.boot.context.properties.ConfigurationProperties;

/**
 * The settings of an instance, except those that stand as placeholders in the annotations of {@link
 * Reports}.
 *
 * @param instance the name of the instance, different for each
 * @param packingTime how long the packing of an order takes
 */
@ConfigurationProperties("shop")
record ShopProperties(String instance, Duration packingTime) {}
