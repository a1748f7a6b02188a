import { expect, test } from "vitest";
import { CompactingMap } from "../../../src/kernel/compacting-map.ts";

test("a compacting map holds the same entries as a Map, in the same order, after many changes", () => {
  const fresh = new CompactingMap<number>();
  const plain = new Map<string, number>();
  for (let step = 0; step < 5_000; step += 1) {
    const key = `key ${(step * 7) % 61}`;
    if (step % 3 === 0) expect(fresh.delete(key)).toBe(plain.delete(key));
    else {
      fresh.set(key, step);
      plain.set(key, step);
    }
    expect([fresh.size, fresh.get(key)]).toEqual([plain.size, plain.get(key)]);
  }
  expect([...fresh.entries()]).toEqual([...plain.entries()]);
  fresh.clear();
  expect([fresh.size, [...fresh.values()]]).toEqual([0, []]);
});

/** Whether the entries were moved: an iterator that began before still returns what is deleted afterwards. */
function isMovedAfter(deletions: number, remaining: number): boolean {
  const map = new CompactingMap<number>();
  for (let number = 0; number <= remaining + deletions; number += 1) map.set(`key ${number}`, number);
  const earlier = map.values();
  for (let number = 0; number < deletions; number += 1) map.delete(`key ${number}`);
  const last = remaining + deletions;
  map.delete(`key ${last}`);
  return [...earlier].includes(last);
}

test.each([
  [64, 10, false],
  [65, 10, true],
  [65, 63, true],
  [65, 64, false],
  [100, 98, true],
  [100, 99, false],
])(
  "after %i deletions, with one entry more than %i left, the entries are moved: %s",
  (deletions, remaining, isMoved) => {
    expect(isMovedAfter(deletions, remaining)).toBe(isMoved);
  },
);

test("deletions are counted again after the entries were moved", () => {
  const map = new CompactingMap<number>();
  for (let number = 0; number < 65; number += 1) map.set(`first ${number}`, number);
  for (let number = 0; number < 65; number += 1) map.delete(`first ${number}`);
  for (let number = 0; number < 3; number += 1) map.set(`second ${number}`, number);
  const earlier = map.values();
  for (let number = 0; number < 3; number += 1) map.delete(`second ${number}`);
  expect([...earlier]).toEqual([]);
});
