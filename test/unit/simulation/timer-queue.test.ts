import { expect, test } from "vitest";
import type { DueWork } from "../../../src/platform/rules/commands.ts";
import { randomFrom } from "../../../src/simulation/random.ts";
import { TimerQueue } from "../../../src/simulation/timer-queue.ts";

const work = (kind: DueWork["kind"], id: string): DueWork => ({ kind, id });
const operation = (id: string) => work("operation", id);

/** Takes every timer, as `instant kind id`. */
function drain(timers: TimerQueue): string[] {
  const taken: string[] = [];
  for (let next = timers.peek(); next !== undefined; next = timers.peek()) {
    taken.push(`${next.at} ${next.work.kind} ${next.work.id}`);
    timers.take();
  }
  return taken;
}

test("timers fire by instant, whatever the order in which they were scheduled", () => {
  const timers = new TimerQueue();
  for (const at of [5, 1, 4, 2, 3]) timers.schedule(operation(String(at)), at, at);
  expect(drain(timers)).toEqual([1, 2, 3, 4, 5].map((at) => `${at} operation ${at}`));
  expect(timers.peek()).toBeUndefined();
});

test("at one instant operations end first, then activity arrives, then sizes follow, then computes suspend", () => {
  const timers = new TimerQueue();
  timers.schedule(work("autosuspend", "c"), 1, 10);
  timers.schedule(work("rescale", "c"), 1, 10);
  timers.schedule(work("activity", "1"), 1, 10);
  timers.schedule(operation("o"), 1, 10);
  timers.schedule(work("autosuspend", "d"), 1, 9);
  expect(drain(timers)).toEqual([
    "9 autosuspend d",
    "10 operation o",
    "10 activity 1",
    "10 rescale c",
    "10 autosuspend c",
  ]);
});

test("ties are ordered by the object's number", () => {
  const timers = new TimerQueue();
  for (const order of [3, 1, 2]) timers.schedule(operation(`number ${order}`), order, 10);
  expect(drain(timers)).toEqual(["10 operation number 1", "10 operation number 2", "10 operation number 3"]);
});

test("an earlier timer replaces a later one, but not the reverse", () => {
  const timers = new TimerQueue();
  timers.schedule(operation("a"), 1, 10);
  timers.schedule(operation("a"), 1, 5);
  expect(drain(timers)).toEqual(["5 operation a"]);
  timers.schedule(operation("b"), 1, 5);
  timers.schedule(operation("b"), 1, 10);
  timers.schedule(operation("b"), 1, 5);
  expect(drain(timers)).toEqual(["5 operation b"]);
});

test("work that was taken can be scheduled again", () => {
  const timers = new TimerQueue();
  timers.schedule(operation("a"), 1, 5);
  timers.take();
  timers.schedule(operation("a"), 1, 10);
  expect(drain(timers)).toEqual(["10 operation a"]);
});

test("one id with two kinds is two pieces of work", () => {
  const timers = new TimerQueue();
  timers.schedule(work("rescale", "ep"), 1, 5);
  timers.schedule(work("autosuspend", "ep"), 1, 3);
  expect(drain(timers)).toEqual(["3 autosuspend ep", "5 rescale ep"]);
});

test("peek leaves the timer in the queue", () => {
  const timers = new TimerQueue();
  timers.schedule(operation("a"), 1, 5);
  expect([timers.peek()?.at, timers.peek()?.at]).toEqual([5, 5]);
});

test("a cleared queue is empty and accepts the same work again", () => {
  const timers = new TimerQueue();
  timers.schedule(operation("a"), 1, 5);
  timers.clear();
  expect(timers.peek()).toBeUndefined();
  timers.schedule(operation("a"), 1, 8);
  expect(drain(timers)).toEqual(["8 operation a"]);
});

test("a rescheduled timer fires at its new instant, after timers that are now earlier", () => {
  const timers = new TimerQueue();
  for (const at of [1, 3, 5]) timers.schedule(operation(String(at)), at, at);
  timers.peek();
  timers.rescheduleTop(4);
  timers.schedule(operation("1"), 1, 6);
  expect(drain(timers)).toEqual(["3 operation 3", "4 operation 1", "5 operation 5"]);
  timers.rescheduleTop(7);
  expect(timers.peek()).toBeUndefined();
});

test("nothing can be taken from an empty queue", () => {
  const timers = new TimerQueue();
  timers.take();
  expect(timers.peek()).toBeUndefined();
});

test("10,000 timers, scheduled, moved and taken at random, fire in order and once each", () => {
  const draw = randomFrom(1).stream("timers-test", 1);
  const timers = new TimerQueue();
  const expected = new Map<string, number>();
  let last = 0;
  const seen: string[] = [];
  for (let step = 0; step < 10_000; step += 1) {
    const id = `w${draw() % 500}`;
    const at = last + (draw() % 1_000);
    const planned = expected.get(id);
    timers.schedule(operation(id), 1, at);
    expected.set(id, planned === undefined ? at : Math.min(planned, at));
    if (draw() % 3 !== 0) continue;
    const next = timers.peek();
    if (next === undefined) continue;
    expect(next.at).toBe(Math.min(...expected.values()));
    expect(next.at).toBe(expected.get(next.work.id));
    last = next.at;
    if (draw() % 4 === 0) {
      const later = last + (draw() % 1_000);
      expected.set(next.work.id, later);
      timers.rescheduleTop(later);
      continue;
    }
    seen.push(next.work.id);
    expected.delete(next.work.id);
    timers.take();
  }
  expect(drain(timers)).toHaveLength(expected.size);
  expect(seen.length).toBeGreaterThan(1_000);
});

test("work is scheduled by the instant of its timer, inclusive, and only for its own kind and id", () => {
  const timers = new TimerQueue();
  timers.schedule(operation("o"), 1, 10);
  expect([9, 10, 11].map((at) => timers.isScheduledBy("operation", "o", at))).toEqual([false, true, true]);
  expect(timers.isScheduledBy("operation", "other", 10)).toBe(false);
  expect(timers.isScheduledBy("autosuspend", "o", 10)).toBe(false);
  timers.take();
  expect(timers.isScheduledBy("operation", "o", 10)).toBe(false);
});

test("scheduling the same work for the same instant again adds no entry", () => {
  const timers = new TimerQueue();
  timers.schedule(operation("o"), 1, 10);
  timers.schedule(operation("o"), 1, 10);
  expect(timers.size).toBe(1);
});

test("a cleared queue is empty, and the same work can be scheduled again", () => {
  const timers = new TimerQueue();
  timers.schedule(operation("o"), 1, 10);
  timers.clear();
  expect([timers.size, timers.isScheduledBy("operation", "o", 10)]).toEqual([0, false]);
  timers.schedule(operation("o"), 1, 20);
  expect(drain(timers)).toEqual(["20 operation o"]);
});
