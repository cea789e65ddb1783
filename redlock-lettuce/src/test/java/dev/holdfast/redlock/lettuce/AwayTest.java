package dev.holdfast.redlock.lettuce;

import dev.holdfast.drivertests.AwayContract;

class AwayTest extends AwayContract {}
