import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { build, type Plugin } from "esbuild";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type * as Kernels from "../support/kernels.ts";
import { SECOND } from "../support/traces.ts";

// Small mistakes in the kernels' decisions, each made in the source text and compiled: what the other tests check, in short, must fail for
// each of them. A check that passes a mistake proves nothing.

const ROOT = join(import.meta.dirname, "../..");
let directory = "";

beforeAll(() => {
  directory = mkdtempSync(join(ROOT, "node_modules/.cache-mutations-"));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

type Mutation = readonly [file: string, from: string, to: string];

const MUTATIONS: readonly Mutation[] = [
  ["gap-histogram", "if (gap > 0)", "if (gap > 1_000)"],
  ["gap-histogram", "+ 999)", "+ 1_000)"],
  ["gap-histogram", "+ 999)", "+ 998)"],
  ["gap-histogram", "if (endsAt > busyEnd) busyEnd = endsAt", "busyEnd = endsAt"],
  ["gap-histogram", "arrival + (durationMs[i] as number)", "arrival"],
  ["gaps", "addGap(this.gaps.tails", "addGap(this.gaps.ended"],
  ["gaps", "Math.min(this.#busyEnd, this.#endAt)", "this.#busyEnd"],
  ["curve", "shorterMs + longer * s * SECOND", "shorterMs + longer * (s + 1) * SECOND"],
  ["curve", "addIdle(activeMs, gaps.tails, tails.count);", ""],
  ["replay", "if (arrival > busyEnd + delayMs)", "if (arrival >= busyEnd + delayMs)"],
  ["replay", "if (arrival > busyEnd + delayMs)", "if (arrival > busyEnd + delayMs + 1)"],
  ["replay", "this.#readyAt = at + this.#latencies.at(at)", "this.#readyAt = at"],
  ["replay", "Math.max(busyEnd, readyAt + (durationMs[i] as number))", "Math.max(busyEnd, arrival + (durationMs[i] as number))"],
  ["replay", "if (endsAt > busyEnd) busyEnd = endsAt", "busyEnd = endsAt"],
  ["replay", "waits.add(readyAt - arrival)", "waits.add(readyAt - arrival + 1)"],
  ["replay", "this.outcome.coldStarts += 1;", ""],
  ["outcome", "outcome.activeMs += end - from", "outcome.activeMs += to - from"],
  ["outcome", "Math.min(readyAt, end) - from", "readyAt - from"],
  ["policy-replay", "at <= plan.sleepAt", "at < plan.sleepAt"],
  ["policy-replay", "Math.max(arrival, this.#readyAt)", "arrival"],
  ["coupled", "if (sleepAt > this.#now)", "if (sleepAt > this.#now + 1)"],
  ["coupled", "const SLEEP = 0.375", "const SLEEP = -0.375"],
  ["coupled", "if (endsAt > (this.#busyEnd[compute] as number)) ", ""],
  ["trace-cursors", "if (arrival > busyEnd + delayMs) break", "if (arrival >= busyEnd + delayMs) break"],
  ["trace-cursors", "if (endsAt > busyEnd) busyEnd = endsAt", "busyEnd = endsAt"],
  ["trace-cursors", "untilAt + (durationMs[i] as number)", "arrival + (durationMs[i] as number)"],
  ["trace-cursors", "waits.add(untilAt - arrival)", "waits.add(untilAt - arrival + 1)"],
  ["policies/clairvoyant", "nextAt - idleSince > coldStartS * SECOND ? idleSince : nextAt", "nextAt - idleSince >= 0 ? idleSince : nextAt"],
  ["policies/ski-rental", "u * (Math.E - 1)", "u * Math.E"],
  ["erlang", "offered * blocked) / (k + offered", "offered * blocked) / (k + 1 + offered"],
];

test("without a mistake the checks pass", async () => {
  expect(failures(await compiled(undefined, 0))).toEqual([]);
});

describe("a mistake is found", () => {
  test.each(MUTATIONS.map((mutation, index) => [...mutation, index + 1] as const))("%s: %s → %s", async (file, from, to, index) => {
    expect(failures(await compiled([file, from, to], index))).not.toEqual([]);
  });
});

/** The kernels with one piece of text replaced, wherever it stands in the file; it must stand there. */
async function compiled(mutation: Mutation | undefined, index: number): Promise<typeof Kernels> {
  const outfile = join(directory, `kernels-${index}.mjs`);
  const [file, from, to] = mutation ?? ["", "", ""];
  const mutate: Plugin = {
    name: "mutate",
    setup({ onLoad }) {
      onLoad({ filter: new RegExp(`src/whatif/${file}\\.ts$`) }, ({ path }) => {
        const text = readFileSync(path, "utf8");
        if (!text.includes(from)) throw new Error(`${path} does not have "${from}"`);
        return { contents: text.replaceAll(from, to), loader: "ts" };
      });
    },
  };
  await build({
    entryPoints: [join(ROOT, "test/support/kernels.ts")],
    outfile,
    bundle: true,
    format: "esm",
    platform: "node",
    plugins: mutation === undefined ? [] : [mutate],
    logLevel: "silent",
  });
  return (await import(/* @vite-ignore */ pathToFileURL(outfile).href)) as typeof Kernels;
}

/** The checks that do not pass: known figures of small traces, worked out by hand. */
function failures({ figures }: typeof Kernels): string[] {
  return Object.entries(figures()).flatMap(([name, figure]) => {
    const expected = EXPECTED[name];
    return expected !== undefined && Math.abs(figure - expected) < 1e-9 ? [] : [`${name}: ${figure}, not ${expected}`];
  });
}

// Requests at 0 (for 5 s), 1 s, 65 s, 125.001 s, 500 s (for an hour); the period ends at 600 s. The gaps are 60 s, 60.001 s and 374.999 s.
// With a latency of 10 s the first ends at 15 s, and the others' gaps are 50 s, 60.001 s (and a start) and 364.999 s.
// At deadlines (latency 10 s): 75 s is one to the millisecond, 135.001 s a millisecond behind one, 420 s one again; 420.5 s follows at once.
const EXPECTED: Readonly<Record<string, number>> = {
  "cold starts of the curve at 60 s": 2,
  "at 61 s": 1,
  "at 0 s": 3,
  "active at 60 s": (105 + 180) * SECOND,
  "active at 375 s": 600 * SECOND,
  "active with a tail": 65 * SECOND,
  ...Object.fromEntries(
    ["fixed", "any", "coupled", "metered"].flatMap((kernel) => [
      [`${kernel}: cold starts at 60 s`, 2],
      [`${kernel}: active`, (5 + 60 + 60 + 60 + 100) * SECOND],
      [`${kernel}: cold starts with a latency`, 2],
      [`${kernel}: active with a latency`, 125 * SECOND + 70 * SECOND + 100 * SECOND],
      [`${kernel}: starting`, 30 * SECOND],
      [`${kernel}: waits`, 39 * SECOND],
      [`${kernel}: starting at the end`, 4 * SECOND],
      [`${kernel}: cold starts at deadlines`, 2],
      [`${kernel}: active at deadlines`, 135_000 + 70_001 + 180_500],
    ]),
  ),
  "cold starts of each gap": 7,
  "clairvoyant cold starts": 2,
  "clairvoyant active": 165 * SECOND,
  "randomised delay": 300 * Math.log(1 + 0.5 * (Math.E - 1)),
  "Erlang B": 0.4,
};
