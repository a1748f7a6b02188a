import { expect, test } from "vitest";
import { Places } from "../../../src/input-limits/limited-places.ts";

test("places are given in the order of the requests, and a full queue takes nobody", async () => {
  const places = new Places(2, 2);
  const leave = [await places.take(), await places.take()];
  const order: string[] = [];
  const waiting = ["third", "fourth"].map(async (name) => {
    const end = await places.take();
    order.push(name);
    return end;
  });
  expect(places.take()).toBe(undefined);
  expect(order).toEqual([]);
  leave[0]?.();
  // Twice by mistake: frees one place only.
  leave[0]?.();
  await waiting[0];
  expect(order).toEqual(["third"]);
  leave[1]?.();
  await waiting[1];
  expect(order).toEqual(["third", "fourth"]);
  for (const end of await Promise.all(waiting)) end?.();
  expect(await Promise.all([places.take(), places.take()])).toHaveLength(2);
});
