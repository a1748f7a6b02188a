import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, test } from "vitest";
import { WriteTurns } from "../../../src/platform-api/http/write-turns.ts";

/** Writes of 0.1 ms each that arrive together; notes their order, and that of a read that arrives with the second turn. */
async function handled(writes: number): Promise<string[]> {
  let now = 0;
  const turns = new WriteTurns(() => now);
  const order: string[] = [];
  const write = async (number: number) => {
    await turns.next();
    now += 0.1;
    order.push(`write ${number}`);
  };
  const all = Array.from({ length: writes }, (_, index) => write(index));
  setImmediate(() => order.push("read"));
  await Promise.all(all);
  return order;
}

test("writes begin in the order of their arrival", async () => {
  const order = (await handled(9)).filter((text) => text !== "read");
  expect(order).toEqual(Array.from({ length: 9 }, (_, index) => `write ${index}`));
});

test("a read does not wait for all writes that arrived before it", async () => {
  const order = await handled(9);
  expect(order.indexOf("read")).toBeLessThanOrEqual(5);
});

test("a write begins in the turn after its own, after the reads that arrive in both", async () => {
  const turns = new WriteTurns(() => 0);
  const begun: string[] = [];
  const write = turns.next().then(() => begun.push("write"));
  begun.push("read with it");
  setImmediate(() => begun.push("read of the next turn"));
  await Promise.all([write, nextTurn().then(() => nextTurn())]);
  expect(begun).toEqual(["read with it", "read of the next turn", "write"]);
});

test("between two turns with writes there is one without, for the commit of those that have begun", async () => {
  let now = 0;
  const turns = new WriteTurns(() => now);
  const order: string[] = [];
  const write = async (number: number) => {
    await turns.next();
    now += 3;
    order.push(`write ${number}`);
    setImmediate(() => order.push(`commit of ${number}`));
  };
  await Promise.all([write(0), write(1)]);
  expect(order).toEqual(["write 0", "commit of 0", "write 1"]);
});

test("a write that arrives while others wait does not overtake them", async () => {
  let now = 0;
  const turns = new WriteTurns(() => now);
  const order: number[] = [];
  const write = async (number: number) => {
    await turns.next();
    now += 3;
    order.push(number);
  };
  const first = [write(0), write(1), write(2)];
  await nextTurn();
  await nextTurn();
  await Promise.all([...first, write(3)]);
  expect(order).toEqual([0, 1, 2, 3]);
});
