import { expect, test } from "vitest";
import type { DueWork } from "../../../src/platform/commands.ts";
import { randomFrom } from "../../../src/simulation/random.ts";
import { TimerQueue } from "../../../src/simulation/timer-queue.ts";

const work = (kind: DueWork["kind"], id: string): DueWork => ({ kind, id });
const operation = (id: string) => work("operation", id);

/** Takes every timer, as `instant kind id`. */
function drain(agenda: TimerQueue): string[] {
  const taken: string[] = [];
  for (let next = agenda.peek(); next !== undefined; next = agenda.peek()) {
    taken.push(`${next.at} ${next.work.kind} ${next.work.id}`);
    agenda.take();
  }
  return taken;
}

test("timers fire by instant, whatever the order in which they were scheduled", () => {
  const agenda = new TimerQueue();
  for (const at of [5, 1, 4, 2, 3]) agenda.schedule(operation(String(at)), at, at);
  expect(drain(agenda)).toEqual([1, 2, 3, 4, 5].map((at) => `${at} operation ${at}`));
  expect(agenda.peek()).toBeUndefined();
});

test("at one instant operations end first, then activity arrives, then sizes follow, then computes suspend", () => {
  const agenda = new TimerQueue();
  agenda.schedule(work("autosuspend", "c"), 1, 10);
  agenda.schedule(work("rescale", "c"), 1, 10);
  agenda.schedule(work("activity", "1"), 1, 10);
  agenda.schedule(operation("o"), 1, 10);
  agenda.schedule(work("autosuspend", "d"), 1, 9);
  expect(drain(agenda)).toEqual([
    "9 autosuspend d",
    "10 operation o",
    "10 activity 1",
    "10 rescale c",
    "10 autosuspend c",
  ]);
});

test("ties are ordered by the object's number", () => {
  const agenda = new TimerQueue();
  for (const order of [3, 1, 2]) agenda.schedule(operation(`number ${order}`), order, 10);
  expect(drain(agenda)).toEqual(["10 operation number 1", "10 operation number 2", "10 operation number 3"]);
});

test("an earlier timer replaces a later one, but not the reverse", () => {
  const agenda = new TimerQueue();
  agenda.schedule(operation("a"), 1, 10);
  agenda.schedule(operation("a"), 1, 5);
  expect(drain(agenda)).toEqual(["5 operation a"]);
  agenda.schedule(operation("b"), 1, 5);
  agenda.schedule(operation("b"), 1, 10);
  agenda.schedule(operation("b"), 1, 5);
  expect(drain(agenda)).toEqual(["5 operation b"]);
});

test("work that was taken can be scheduled again", () => {
  const agenda = new TimerQueue();
  agenda.schedule(operation("a"), 1, 5);
  agenda.take();
  agenda.schedule(operation("a"), 1, 10);
  expect(drain(agenda)).toEqual(["10 operation a"]);
});

test("one id with two kinds is two pieces of work", () => {
  const agenda = new TimerQueue();
  agenda.schedule(work("rescale", "ep"), 1, 5);
  agenda.schedule(work("autosuspend", "ep"), 1, 3);
  expect(drain(agenda)).toEqual(["3 autosuspend ep", "5 rescale ep"]);
});

test("peek leaves the timer in the queue", () => {
  const agenda = new TimerQueue();
  agenda.schedule(operation("a"), 1, 5);
  expect([agenda.peek()?.at, agenda.peek()?.at]).toEqual([5, 5]);
});

test("a cleared queue is empty and accepts the same work again", () => {
  const agenda = new TimerQueue();
  agenda.schedule(operation("a"), 1, 5);
  agenda.clear();
  expect(agenda.peek()).toBeUndefined();
  agenda.schedule(operation("a"), 1, 8);
  expect(drain(agenda)).toEqual(["8 operation a"]);
});

test("a rescheduled timer fires at its new instant, after timers that are now earlier", () => {
  const agenda = new TimerQueue();
  for (const at of [1, 3, 5]) agenda.schedule(operation(String(at)), at, at);
  agenda.peek();
  agenda.rescheduleTop(4);
  agenda.schedule(operation("1"), 1, 6);
  expect(drain(agenda)).toEqual(["3 operation 3", "4 operation 1", "5 operation 5"]);
  agenda.rescheduleTop(7);
  expect(agenda.peek()).toBeUndefined();
});

test("nothing can be taken from an empty queue", () => {
  const agenda = new TimerQueue();
  agenda.take();
  expect(agenda.peek()).toBeUndefined();
});

test("10,000 timers, scheduled, moved and taken at random, fire in order and once each", () => {
  const draw = randomFrom(1).stream("agenda-test", 1);
  const agenda = new TimerQueue();
  const expected = new Map<string, number>();
  let last = 0;
  const seen: string[] = [];
  for (let step = 0; step < 10_000; step += 1) {
    const id = `w${draw() % 500}`;
    const at = last + (draw() % 1_000);
    const planned = expected.get(id);
    agenda.schedule(operation(id), 1, at);
    expected.set(id, planned === undefined ? at : Math.min(planned, at));
    if (draw() % 3 !== 0) continue;
    const next = agenda.peek();
    if (next === undefined) continue;
    expect(next.at).toBe(Math.min(...expected.values()));
    expect(next.at).toBe(expected.get(next.work.id));
    last = next.at;
    if (draw() % 4 === 0) {
      const later = last + (draw() % 1_000);
      expected.set(next.work.id, later);
      agenda.rescheduleTop(later);
      continue;
    }
    seen.push(next.work.id);
    expected.delete(next.work.id);
    agenda.take();
  }
  expect(drain(agenda)).toHaveLength(expected.size);
  expect(seen.length).toBeGreaterThan(1_000);
});
