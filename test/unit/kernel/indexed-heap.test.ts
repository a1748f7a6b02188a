import { expect, test } from "vitest";
import { IndexedHeap } from "../../../src/kernel/indexed-heap.ts";
import { randomFrom } from "../../../src/simulation/random.ts";

test("the earliest node is first, and at equal instants the lowest, whatever was moved before", () => {
  const heap = new IndexedHeap(40);
  const instants = new Map<number, number>();
  const draw = randomFrom(3).stream("heap", 0);
  for (let step = 0; step < 5_000; step += 1) {
    const [node, instant] = [draw() % 40, draw() % 25];
    heap.set(node, instant);
    instants.set(node, instant);
    const earliest = Math.min(...instants.values());
    const nodes = [...instants].filter(([, at]) => at === earliest).map(([key]) => key);
    expect([heap.firstAt, heap.first]).toEqual([earliest, Math.min(...nodes)]);
  }
});

test("a new heap has every node at infinity", () => {
  expect(new IndexedHeap(1).firstAt).toBe(Number.POSITIVE_INFINITY);
});

test("a heap without nodes is an error", () => {
  expect(() => new IndexedHeap(0)).toThrow("nodes: expected at least 1, got 0");
});

test("nodes at one instant come in their order, however they are moved there", () => {
  const nodes = Array.from({ length: 30 }, (_, node) => node);
  for (const order of [nodes, nodes.toReversed(), nodes.map((node) => (node * 7) % 30)]) {
    const heap = new IndexedHeap(30);
    for (const node of order) heap.set(node, 5);
    const taken: number[] = [];
    for (const _ of nodes) {
      taken.push(heap.first);
      heap.set(heap.first, 9);
    }
    expect([taken, heap.first, heap.firstAt]).toEqual([nodes, 0, 9]);
  }
});
