package com.example.shop;

import org.springframework.stereotype.Component;

/** A component that inherits its locks from the class above its superclass. */
@Component
class Depot extends LargeDepot {}
