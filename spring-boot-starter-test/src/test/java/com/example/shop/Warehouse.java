package com.example.shop;

/** A collaborator, which tests replace. */
interface Warehouse {
  void pack(long id);

  void count();
}
