import { expect, test } from "vitest";
import { drawDuration } from "../../../src/kernel/distribution.ts";
import { ADJECTIVES, NOUNS } from "../../../src/kernel/id-words.ts";
import { drawId, drawUuid } from "../../../src/kernel/ids.ts";
import { normal, uniform } from "../../../src/kernel/random-port.ts";
import { randomFrom } from "../../../src/simulation/random.ts";
import { createAccount, createBranch } from "../../support/double/compute.ts";
import { createDouble, createProject } from "../../support/double/double.ts";

const draws = (seed: number, stream: string, number: number, count = 5) => {
  const source = randomFrom(seed).stream(stream, number);
  return Array.from({ length: count }, source);
};

test("the same seed, stream and number always draw the same", () => {
  expect(draws(1, "project-id", 1)).toEqual(draws(1, "project-id", 1));
});

test("another seed, stream or number draws something else", () => {
  const first = draws(1, "project-id", 1);
  for (const other of [
    draws(2, "project-id", 1),
    draws(1, "branch-id", 1),
    draws(1, "project-id", 2),
    draws(1 + 2 ** 32, "project-id", 1),
  ]) {
    expect(other).not.toEqual(first);
  }
});

test("a draw does not depend on earlier draws", () => {
  const chance = randomFrom(1);
  chance.stream("project-id", 1)();
  chance.stream("anything else", 9)();
  expect(Array.from({ length: 5 }, chance.stream("project-id", 2))).toEqual(draws(1, "project-id", 2));
});

test("draws are whole numbers from 0 to 2^32 - 1, spread evenly", () => {
  const drawn = draws(3, "spread", 1, 20_000);
  for (const value of drawn) expect(Number.isInteger(value) && value >= 0 && value < 2 ** 32).toBe(true);
  const buckets = Array.from({ length: 10 }, () => 0);
  for (const value of drawn)
    buckets[Math.floor((value / 2 ** 32) * 10)] = (buckets[Math.floor((value / 2 ** 32) * 10)] ?? 0) + 1;
  for (const count of buckets) expect(Math.abs(count - 2_000)).toBeLessThan(200);
});

test("the first draws of adjacent numbers are unrelated", () => {
  const firsts = Array.from({ length: 20_000 }, (_, number) => draws(1, "endpoint-id", number, 1)[0] ?? 0);
  const mean = firsts.reduce((sum, value) => sum + value, 0) / firsts.length / 2 ** 32;
  expect(Math.abs(mean - 0.5)).toBeLessThan(0.02);
  expect(new Set(firsts).size).toBeGreaterThan(19_900);
});

test("a uniform draw is at least 0 and below 1, a normal one has mean 0 and deviation 1", () => {
  const source = randomFrom(5).stream("normal", 1);
  for (let round = 0; round < 1_000; round += 1) {
    const value = uniform(source);
    expect(value >= 0 && value < 1).toBe(true);
  }
  const values = Array.from({ length: 20_000 }, () => normal(source));
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const deviation = Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length);
  expect(Math.abs(mean)).toBeLessThan(0.03);
  expect(Math.abs(deviation - 1)).toBeLessThan(0.03);
});

test("a normal draw is finite even for the smallest and the largest uniform draw", () => {
  for (const extreme of [0, 2 ** 32 - 1]) {
    const ms = drawDuration(
      { kind: "lognormal", medianMs: 1_000, sigma: 1, maxMs: 60_000 },
      () => () => extreme,
    );
    expect([extreme, Number.isInteger(ms) && ms >= 0 && ms <= 60_000]).toEqual([extreme, true]);
  }
});

test("durations are fixed, uniform between two bounds, or log-normal around a median with a cap", () => {
  const source = randomFrom(7).stream("durations", 1);
  const drawn = (distribution: Parameters<typeof drawDuration>[0]) =>
    Array.from({ length: 5_000 }, () => drawDuration(distribution, () => source));
  expect(new Set(drawn({ kind: "fixed", ms: 3_000 }))).toEqual(new Set([3_000]));
  const between = drawn({ kind: "uniform", minMs: 500, maxMs: 502 });
  expect([...new Set(between)].sort()).toEqual([500, 501, 502]);
  const around = drawn({ kind: "lognormal", medianMs: 1_000, sigma: 0.5, maxMs: 2_000 }).sort(
    (a, b) => a - b,
  );
  expect(Math.abs((around[2_500] ?? 0) - 1_000)).toBeLessThan(50);
  expect(around.at(-1)).toBe(2_000);
  expect(around.every((ms) => Number.isInteger(ms) && ms >= 0)).toBe(true);
});

test("ids are words with a number or characters, and the prefix of their kind", () => {
  const chance = randomFrom(1);
  const free = () => false;
  expect(drawId(chance, "project", 1, free)).toMatch(/^[a-z]+-[a-z]+-[1-9]\d{7}$/);
  expect(drawId(chance, "branch", 1, free)).toMatch(/^br-[a-z]+-[a-z]+-[1-9]\d{7}$/);
  expect(drawId(chance, "endpoint", 1, free)).toMatch(/^ep-[a-z]+-[a-z]+-[1-9]\d{7}$/);
  expect(drawId(chance, "project", 1, free, "a5")).toMatch(/^[a-z]+-[a-z]+-\d{8}$/);
  expect(drawId(chance, "branch", 1, free, "a5")).toMatch(/^br-[a-z]+-[a-z]+-a5[a-z0-9]{6}$/);
  expect(drawId(chance, "endpoint", 1, free, "a8")).toMatch(/^ep-[a-z]+-[a-z]+-a8[a-z0-9]{6}$/);
  for (const word of [...ADJECTIVES, ...NOUNS]) expect(word).toMatch(/^[a-z]+$/);
});

test("UUIDs have version 4", () => {
  for (let number = 0; number < 200; number += 1) {
    expect(drawUuid(randomFrom(1), "operation-id", number)).toMatch(
      /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
    );
  }
});

/** The result of the same calls in a world with this seed. */
async function play(seed: number) {
  const double = await createDouble({ seed });
  const { projectId } = await createProject(double);
  await createBranch(double, projectId, [{ type: "read_write" }, { type: "read_only" }]);
  await createAccount(double, { name: "other" });
  const { operations } = (await double.api("GET", `/projects/${projectId}/operations`)).body;
  const state = (await double.sim("GET", "/state")).body;
  return JSON.stringify([operations, state]);
}

test("the same seed and calls give the same world, including every id; another seed gives another one", async () => {
  const world = await play(42);
  expect(await play(42)).toBe(world);
  expect(await play(43)).not.toBe(world);
});

test("seed 0 and the largest seed work like any other", async () => {
  expect(await play(0)).not.toBe(await play(2 ** 32 - 1));
  expect(await play(Number.MAX_SAFE_INTEGER)).not.toBe(await play(0));
});
