import { expect, test } from "vitest";
import { CompactingMap } from "../../../../src/platform/core/compacting-map.ts";

test("it holds what a map holds, in the same order, however much comes and goes", () => {
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
