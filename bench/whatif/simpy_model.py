"""A fleet as one would write it with SimPy after its documentation, for the benchmark: the same trace and rules, so the same numbers.

simpy_model.py replay  TRACE DELAY_MS LATENCY_MS
simpy_model.py coupled TRACE DELAY_MS LATENCY_MS PREPARED_MS POOL REFILL_MS CONCURRENT
TRACE: doubles. Number of computes, start and end of the period, number of requests of each; then all arrivals, then all durations.

Processes for the arrivals and for the computes, an event to wake a compute, a Resource for the starts that may be under way, a Container for
the prepared computes. A compute does not take an interrupt for every request that comes while it is awake: it looks at its deadline when
that has come, which is several times as fast. Reading and unpacking the trace is not measured; processor time is.
"""
import array
import json
import sys
import time

import simpy

kernel, path, delay, latency = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
is_coupled = kernel == "coupled"
prepared_latency, pool, refill, concurrent = map(int, sys.argv[5:9]) if is_coupled else (0, 0, 0, 0)
totals = {"cold": 0, "activeMs": 0, "startingMs": 0, "waitMs": 0, "hits": 0, "events": 0}


class Compute:
    def __init__(self, env, starts, prepared, requests):
        self.env, self.starts, self.prepared = env, starts, prepared
        self.is_awake = self.is_on = False
        self.busy_end = 0
        self.waiting = []
        self.wanted = env.event()
        env.process(self.arrivals(requests))
        env.process(self.life())

    def arrivals(self, requests):
        for at, duration in requests:
            yield self.env.timeout(at - self.env.now)
            totals["events"] += 1
            if self.is_awake:
                self.busy_end = max(self.busy_end, at + duration)
                continue
            self.waiting.append((at, duration))
            if not self.wanted.triggered:
                self.wanted.succeed()

    def life(self):
        was_used = False
        while True:
            yield self.wanted
            totals["cold"] += was_used
            was_used = True
            if self.starts is None:
                yield from self.start(latency)
            else:
                with self.starts.request() as turn:
                    yield turn
                    yield from self.start(self.prepare())
            yield from self.stay_awake()
            self.wanted = self.env.event()

    def prepare(self):
        if self.prepared.level < 1:
            return latency
        totals["hits"] += 1
        self.prepared.get(1)
        self.env.process(self.refill())
        return prepared_latency

    def refill(self):
        # A little before the starts of that instant, who find it there.
        yield self.env.timeout(refill - 0.25)
        yield self.prepared.put(1)

    def start(self, takes):
        self.is_on, self.awake_since, self.ready_at = True, self.env.now, self.env.now + takes
        yield self.env.timeout(takes)
        totals["events"] += 1

    def stay_awake(self):
        now = self.env.now
        self.is_awake, self.busy_end = True, now
        for at, duration in self.waiting:
            totals["waitMs"] += now - at
            self.busy_end = max(self.busy_end, now + duration)
        self.waiting.clear()
        while self.busy_end + delay >= self.env.now:
            # A little after arrivals of that instant, who find it awake.
            yield self.env.timeout(self.busy_end + delay - self.env.now + 0.5)
        totals["events"] += 1
        self.is_awake = self.is_on = False
        self.book(self.busy_end + delay)

    def book(self, to):
        totals["activeMs"] += to - self.awake_since
        totals["startingMs"] += min(self.ready_at, to) - self.awake_since


with open(path, "rb") as file:
    values = array.array("d", file.read())
computes, start_at, end_at = int(values[0]), int(values[1]), int(values[2])
counts = [int(count) for count in values[3 : 3 + computes]]
ats = [int(at) - start_at for at in values[3 + computes : 3 + computes + sum(counts)]]
durations = [int(duration) for duration in values[3 + computes + sum(counts) :]]
env = simpy.Environment()
starts = simpy.Resource(env, concurrent) if is_coupled else None
prepared = simpy.Container(env, pool, init=pool) if is_coupled else None
fleet, first = [], 0
for count in counts:
    fleet.append(Compute(env, starts, prepared, list(zip(ats[first : first + count], durations[first : first + count]))))
    first += count
since = time.process_time()
env.run(until=end_at - start_at)
took = time.process_time() - since
for compute in fleet:
    if compute.is_on:
        compute.book(end_at - start_at)
    totals["waitMs"] += sum((compute.ready_at if compute.is_on else end_at - start_at) - at for at, _ in compute.waiting)
amount = totals["events"] if is_coupled else sum(counts)
print(json.dumps({"perSecond": amount / took, **totals}))
