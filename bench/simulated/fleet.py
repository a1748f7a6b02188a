"""The same model of a fleet as fleet.ts in SimPy, counting what our journal would have as events. Prints one line of JSON."""

import json
import random
import resource
import sys
import time

import simpy

shape = json.loads(sys.argv[1])
COMPUTES, DAYS = shape["computes"], shape["days"]
BUSY_GAP_S, QUIET_GAP_S = shape["busyGapMs"] / 1000, shape["quietGapMs"] / 1000
QUERY_S, DELAY_S, START_S = shape["queryMs"] / 1000, shape["delayMs"] / 1000, shape["startMs"] / 1000
HOUR = 3600

env = simpy.Environment()
events = 0
wakes = 0


class Compute:
    def __init__(self, chance):
        self.chance = chance
        self.state = "idle"
        self.active_until = 0
        env.process(self.clients())

    def clients(self):
        global events
        while True:
            office = 8 <= env.now // HOUR % 24 < 18
            yield env.timeout(self.chance.expovariate(1 / (BUSY_GAP_S if office else QUIET_GAP_S)))
            events += 1
            if self.state == "active":
                self.active_until = env.now + QUERY_S
            elif self.state == "idle":
                self.state = "starting"
                events += 1
                env.process(self.life())

    def life(self):
        global events, wakes
        yield env.timeout(START_S)
        self.state = "active"
        self.active_until = env.now + QUERY_S
        events += 2
        wakes += 1
        while (left := self.active_until + DELAY_S - env.now) > 0:
            yield env.timeout(left)
        self.state = "idle"
        events += 2


for number in range(COMPUTES):
    Compute(random.Random(number))
started = time.perf_counter()
env.run(until=DAYS * 24 * HOUR)
elapsed_ms = (time.perf_counter() - started) * 1000
peak_bytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
print(json.dumps({"events": events, "wakes": wakes, "elapsedMs": elapsed_ms, "peakBytes": peak_bytes}))
