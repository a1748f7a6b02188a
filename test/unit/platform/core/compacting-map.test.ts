import { expect, test } from "vitest";
import { CompactingMap } from "../../../../src/platform/core/compacting-map.ts";

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
