"""The coupled simulation as a SimPy model, for the benchmark: the same trace and rules, so the same numbers.

coupled.py TRACE DELAY_MS LATENCY_MS PREPARED_MS POOL REFILL_MS CONCURRENT
TRACE: doubles. Number of computes, start and end of the period, number of requests of each; then all arrivals, then all durations.
"""
import array
import json
import sys
import time

import simpy

path, delay, latency, prepared_latency, pool, refill, concurrent = sys.argv[1], *map(int, sys.argv[2:])
with open(path, "rb") as file:
    values = array.array("d", file.read())
computes, start_at, end_at = int(values[0]), int(values[1]), int(values[2])
counts = [int(count) for count in values[3 : 3 + computes]]
ats = 3 + computes
durations = ats + sum(counts)
prepared_at = [float("-inf")] * pool
totals = {"cold": 0, "activeMs": 0, "waitMs": 0, "hits": 0, "events": 0}
turns = {"next": 0}


class Compute:
    def __init__(self, env, starts, first, count):
        self.env, self.starts = env, starts
        self.awake = self.starting = self.on = self.used = False
        self.busy_end = 0
        self.waiting = []
        env.process(self.arrivals(first, count))

    def arrivals(self, first, count):
        for index in range(first, first + count):
            yield self.env.timeout(int(values[ats + index]) - start_at - self.env.now)
            totals["events"] += 1
            duration = int(values[durations + index])
            if self.awake:
                self.busy_end = max(self.busy_end, self.env.now + duration)
                continue
            self.waiting.append((self.env.now, duration))
            if not self.starting:
                self.starting = True
                totals["cold"] += self.used
                self.used = True
                self.env.process(self.life())

    def life(self):
        env = self.env
        with self.starts.request() as turn:
            yield turn
            self.on, self.awake_since = True, env.now
            takes = latency
            if pool > 0 and prepared_at[turns["next"]] <= env.now:
                takes = prepared_latency
                prepared_at[turns["next"]] = env.now + refill
                turns["next"] = (turns["next"] + 1) % pool
                totals["hits"] += 1
            yield env.timeout(takes)
        totals["events"] += 1
        self.awake, self.starting, self.busy_end = True, False, env.now
        for at, duration in self.waiting:
            totals["waitMs"] += env.now - at
            self.busy_end = max(self.busy_end, env.now + duration)
        self.waiting.clear()
        while self.busy_end + delay >= env.now:
            # Half a millisecond later than arrivals at that instant, who find it awake.
            yield env.timeout(self.busy_end + delay - env.now + 0.5)
        totals["events"] += 1
        self.awake = self.on = False
        totals["activeMs"] += self.busy_end + delay - self.awake_since


env = simpy.Environment()
starts = simpy.Resource(env, concurrent)
fleet, first = [], 0
for count in counts:
    fleet.append(Compute(env, starts, first, count))
    first += count
since = time.perf_counter()
env.run(until=end_at - start_at)
took = time.perf_counter() - since
totals["activeMs"] += sum(end_at - start_at - compute.awake_since for compute in fleet if compute.on)
print(json.dumps({"perSecond": totals["events"] / took, **totals}))
