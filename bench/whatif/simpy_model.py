"""The simulations of src/whatif as SimPy models. Same trace and rules, so the same results.

simpy_model.py replay  TRACE DELAY_MS LATENCY_MS
simpy_model.py coupled TRACE DELAY_MS LATENCY_MS PREPARED_MS POOL REFILL_MS CONCURRENT

kernels.c describes TRACE. Prints one line of JSON.

Follows SimPy's documentation: processes for arrivals and computes, an event that starts a compute, a Resource
for concurrent starts, a Container for prepared computes. One difference: a request to an active compute does
not interrupt its process. Instead it checks at its suspend time whether it has moved, which is several
times as fast. Measures processor time, without reading the trace.
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
        self.is_active = self.is_started = False
        self.busy_end = 0
        self.waiting = []
        self.start_requested = env.event()
        env.process(self.arrivals(requests))
        env.process(self.lifecycle())

    def arrivals(self, requests):
        for at, duration in requests:
            yield self.env.timeout(at - self.env.now)
            totals["events"] += 1
            if self.is_active:
                self.busy_end = max(self.busy_end, at + duration)
                continue
            self.waiting.append((at, duration))
            if not self.start_requested.triggered:
                self.start_requested.succeed()

    def lifecycle(self):
        was_active = False
        while True:
            yield self.start_requested
            totals["cold"] += was_active
            was_active = True
            if self.starts is None:
                yield from self.start(latency)
            else:
                with self.starts.request() as slot:
                    yield slot
                    yield from self.start(self.take_prepared())
            yield from self.run_until_suspended()
            self.start_requested = self.env.event()

    def take_prepared(self):
        if self.prepared.level < 1:
            return latency
        totals["hits"] += 1
        self.prepared.get(1)
        self.env.process(self.refill())
        return prepared_latency

    def refill(self):
        # Completes before starts at the same time, so they can use it.
        yield self.env.timeout(refill - 0.25)
        yield self.prepared.put(1)

    def start(self, start_latency):
        self.is_started, self.active_since, self.ready_at = True, self.env.now, self.env.now + start_latency
        yield self.env.timeout(start_latency)
        totals["events"] += 1

    def run_until_suspended(self):
        now = self.env.now
        self.is_active, self.busy_end = True, now
        for at, duration in self.waiting:
            totals["waitMs"] += now - at
            self.busy_end = max(self.busy_end, now + duration)
        self.waiting.clear()
        while self.busy_end + delay >= self.env.now:
            # Checks after arrivals at the same time, so they find the compute active.
            yield self.env.timeout(self.busy_end + delay - self.env.now + 0.5)
        totals["events"] += 1
        self.is_active = self.is_started = False
        self.add_active_time(self.busy_end + delay)

    def add_active_time(self, to):
        totals["activeMs"] += to - self.active_since
        totals["startingMs"] += min(self.ready_at, to) - self.active_since


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
    end = first + count
    fleet.append(Compute(env, starts, prepared, list(zip(ats[first:end], durations[first:end]))))
    first = end
started_at = time.process_time()
env.run(until=end_at - start_at)
elapsed = time.process_time() - started_at
for compute in fleet:
    if compute.is_started:
        compute.add_active_time(end_at - start_at)
    wait_end = compute.ready_at if compute.is_started else end_at - start_at
    totals["waitMs"] += sum(wait_end - at for at, _ in compute.waiting)
amount = totals["events"] if is_coupled else sum(counts)
print(json.dumps({"perSecond": amount / elapsed, **totals}))
