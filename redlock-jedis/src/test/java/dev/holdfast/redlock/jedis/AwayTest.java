package dev.holdfast.redlock.jedis;

import dev.holdfast.drivertests.AwayContract;

class AwayTest extends AwayContract {}
