package dev.holdfast.simulation;

import dev.holdfast.redlock.Round;

/** A command on its way to a node over one connection. */
record Request(Connection connection, Round round) {}
