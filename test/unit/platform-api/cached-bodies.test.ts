import { expect, test } from "vitest";
import { emptyWorld } from "../../../src/platform/world/world.ts";
import { CachedBodies } from "../../../src/platform-api/http/cached-bodies.ts";
import { JsonBody } from "../../../src/platform-api/render/json-body.ts";

const MAX_BYTES = 16 * 1024 ** 2;
const MIB = 1024 ** 2;

function listOf(...texts: string[]): JsonBody {
  const rows = texts.map((text) => ({ text, until: Number.POSITIVE_INFINITY }));
  return JsonBody.list({ world: emptyWorld(), now: 0 }, "rows", rows);
}

/** Hardly compressible, so that the compressed form counts. */
function textOf(bytes: number): string {
  let [text, state] = ["", 1];
  while (text.length < bytes) {
    state = (state * 48_271) % 2_147_483_647;
    text += state.toString(36);
  }
  return JSON.stringify(text);
}

test("all cached bodies have a bounded size, with their compressed forms and the texts of their rows", async () => {
  const bodies = new CachedBodies();
  const list = listOf(textOf(MIB));
  for (let number = 0; number < 12; number += 1) {
    const body = bodies.of(`/${number}`, list);
    const before = bodies.size;
    const compressed = await body.gzipped();
    expect(compressed.byteLength).toBeGreaterThan(MIB / 2);
    expect(bodies.size).not.toBe(before);
    expect(bodies.size).toBeLessThanOrEqual(MAX_BYTES);
  }
  expect(bodies.size).toBeGreaterThan(MAX_BYTES / 2);
});

test("a body that was forgotten before its compression ended is not counted", async () => {
  const bodies = new CachedBodies();
  const compressing = bodies.of("/a", listOf(textOf(MIB))).gzipped();
  bodies.of("/a", listOf('"other"'));
  const before = bodies.size;
  await compressing;
  expect(bodies.size).toBe(before);
});

test("an equal list has the same body", () => {
  const bodies = new CachedBodies();
  const body = bodies.of("/a", listOf('"row"'));
  const equal = listOf('"row"');
  expect(bodies.of("/a", equal)).toBe(body);
  expect(body.json).toBe(equal);
  expect(bodies.of("/a", listOf('"row"', '"row"'))).not.toBe(body);
});
