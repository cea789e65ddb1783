package com.example.shop;

import org.springframework.boot.autoconfigure.SpringBootApplication;

/** The application whose tests are tested here. */
@SpringBootApplication
class ShopApplication {}
