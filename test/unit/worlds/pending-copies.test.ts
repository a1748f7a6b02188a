import { expect, test } from "vitest";
import { PendingCopies } from "../../../src/worlds/pending-copies.ts";

/** Copies that count how often they say that a read is possible again. */
function scene() {
  const counts = { readable: 0, reads: 0 };
  const copies = new PendingCopies(() => {
    counts.readable += 1;
  });
  const read = (meanwhile: () => Promise<unknown> = () => Promise.resolve()) =>
    copies.readWithout(async () => {
      counts.reads += 1;
      await meanwhile();
      return "found";
    });
  return { copies, counts, read };
}

test("a read without copies returns what it found, and nobody is notified", async () => {
  const { copies, counts, read } = scene();
  await copies.make(() => Promise.resolve());
  expect(await read()).toBe("found");
  expect(counts).toEqual({ readable: 0, reads: 1 });
});

test.each([
  ["succeeds", Promise.resolve],
  ["fails", Promise.reject],
])("a read during copies finds nothing, and the last copy notifies once also if it %s", async (_, settle) => {
  const { copies, counts, read } = scene();
  const ends = [0, 1].map(() => {
    let end = () => undefined as unknown;
    const copy = copies.make(() => new Promise((resolve) => (end = () => resolve(settle.call(Promise, 1)))));
    return { copy, end: () => end() };
  });
  expect([await read(), await read()]).toEqual([undefined, undefined]);
  for (const [index, { copy, end }] of ends.entries()) {
    expect(counts).toEqual({ readable: 0, reads: 0 });
    end();
    await copy.catch(() => undefined);
    expect(counts.readable).toBe(index);
  }
  expect(await read()).toBe("found");
  expect(counts).toEqual({ readable: 1, reads: 1 });
});

test("a read during which a copy is begun and finished finds nothing, and notifies itself", async () => {
  const { copies, counts, read } = scene();
  expect(await read(() => copies.make(() => Promise.resolve()))).toBeUndefined();
  expect(counts).toEqual({ readable: 1, reads: 1 });
  expect(await read()).toBe("found");
});

test("a read during which a copy is begun finds nothing, and the end of the copy notifies", async () => {
  const { copies, counts, read } = scene();
  let end = () => undefined as unknown;
  let copy: Promise<unknown> = Promise.resolve();
  const found = await read(async () => {
    copy = copies.make(() => new Promise((resolve) => (end = () => resolve(1))));
  });
  expect([found, counts.readable]).toEqual([undefined, 0]);
  end();
  await copy;
  expect(counts.readable).toBe(1);
});
