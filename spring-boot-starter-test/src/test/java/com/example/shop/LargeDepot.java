package com.example.shop;

/** A superclass between a component and the class with locks. */
abstract class LargeDepot extends AbstractDepot {}
