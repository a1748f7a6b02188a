"""SimPy version of fleet.ts. Counts what the journal records as events. Prints one line of JSON."""

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
starts = 0


class Compute:
    def __init__(self, random_source):
        self.random = random_source
        self.state = "suspended"
        self.active_until = 0
        env.process(self.queries())

    def queries(self):
        global events
        while True:
            in_office_hours = 8 <= env.now // HOUR % 24 < 18
            yield env.timeout(self.random.expovariate(1 / (BUSY_GAP_S if in_office_hours else QUIET_GAP_S)))
            events += 1
            if self.state == "active":
                self.active_until = env.now + QUERY_S
            elif self.state == "suspended":
                self.state = "starting"
                events += 1
                env.process(self.lifecycle())

    def lifecycle(self):
        global events, starts
        yield env.timeout(START_S)
        self.state = "active"
        self.active_until = env.now + QUERY_S
        events += 2
        starts += 1
        while (remaining := self.active_until + DELAY_S - env.now) > 0:
            yield env.timeout(remaining)
        self.state = "suspended"
        events += 2


for number in range(COMPUTES):
    Compute(random.Random(number))
started = time.perf_counter()
env.run(until=DAYS * 24 * HOUR)
elapsed_ms = (time.perf_counter() - started) * 1000
peak_bytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
print(json.dumps({"events": events, "starts": starts, "elapsedMs": elapsed_ms, "peakBytes": peak_bytes}))
