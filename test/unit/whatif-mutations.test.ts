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
  ["gaps", "this.#busyEnd - this.#firstAt", "Math.min(this.#busyEnd, this.#endAt) - this.#firstAt"],
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
  ["outcome", "Math.max(endAt, busyEnd)", "endAt"],
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
  ["erlang", "(1 - (offered / servers) * (1 - blocked))", "(1 - offered / servers)"],
  ["stack-distance", "distance < blocks", "distance <= blocks"],
  ["stack-distance", "this.#add(last, -weight);", ""],
  ["stack-distance", "this.#lastUse.clear();", ""],
  ["stack-distance", "this.#add(this.#position, this.standsFor(block));", ""],
  ["stack-distance", ": this.#sampledUses / this.#followedUses", ": this.#weight"],
  [
    "end-times",
    "(this.#at[child + 1] as number) < (this.#at[child] as number)",
    "(this.#at[child + 1] as number) > (this.#at[child] as number)",
  ],
  ["end-times", "if ((this.#at[parent] as number) <= at) break", "if ((this.#at[parent] as number) >= at) break"],
  ["connections", "open.firstAt <= arrival", "open.firstAt < arrival"],
  ["connections", "open.size >= limit", "open.size > limit"],
  ["connections", "this.#busy.size + this.#waiting >= clients", "this.#busy.size + this.#waiting > clients"],
  ["connections", "now - next.at > this.#rules.waitLimitMs", "now - next.at >= this.#rules.waitLimitMs"],
  ["connections", "if (at < since)", "if (at >= since || best < 0)"],
  ["connections", "pool.busy >= this.#rules.poolSize", "pool.busy > this.#rules.poolSize"],
  ["scaling-replay", "this.#loadPerRequest > this.#sizeCu", "this.#loadPerRequest >= this.#sizeCu"],
  ["scaling-replay", "Math.max(running.size, lately.highest)", "running.size"],
  ["scaling-replay", "lately.add(running.size, next", "lately.add(running.size - 1, next"],
  ["scaling-replay", "else this.#isMoment = true;", ""],
  ["scaling-replay", "gb / FILLED / ramGbPerCu", "gb / ramGbPerCu"],
  ["scaling-replay", "running * memoryGbPerRequest, profile", "memoryGbPerRequest * 0, profile"],
  ["start-gate", "this.underWay < this.#concurrent", "this.underWay <= this.#concurrent"],
  [
    "start-gate",
    "this.#queueFirst = (this.#queueFirst + 1) % this.#queue.length",
    "this.#queueFirst = this.#queueFirst % this.#queue.length",
  ],
  ["start-gate", "?? Number.POSITIVE_INFINITY) <= now", "?? Number.POSITIVE_INFINITY) < now"],
  ["start-gate", "= now + this.#refillMs", "= now"],
  ["coupled", "    this.#endPeriod(endAt);", ""],
  ["shared-quota", ">= (this.#limitCuMs[group] as number)", "> (this.#limitCuMs[group] as number)"],
  ["shared-quota", "Math.ceil(((this.#limitCuMs", "Math.floor(((this.#limitCuMs"],
  ["shared-quota", "this.#usedCuMs.fill(0);", ""],
  ["shared-quota", "(this.#rate[group] as number) + cu", "cu"],
  ["quota-months", "Math.min(to, nextMonthStart(at))", "to"],
  ["quota-months", "of(at).refused += 1;", ""],
  ["attribution", "isOwn(i) === wanted", "isOwn(i) !== wanted"],
  ["attribution", "this.#without[source]?.add(others)", "this.#without[source]?.add(own)"],
  ["attribution", "(source?.[i] ?? 0) === own", "(source?.[i] ?? 0) >= own"],
  ["policies/hybrid-histogram", "const HEAD = 0.05", "const HEAD = 0.04"],
  ["policies/hybrid-histogram", "1 - HEAD_MARGIN", "1 + HEAD_MARGIN"],
  ["policies/hybrid-histogram", "(this.#binOf(TAIL) + 1)", "this.#binOf(TAIL)"],
  ["policies/hybrid-histogram", "this.#sumOfSquares += 2 * count + 1", "this.#sumOfSquares += 1"],
  ["policies/hybrid-histogram", "WEIGHT * idleMs + (1 - WEIGHT) * ", "(1 - WEIGHT) * idleMs + WEIGHT * "],
  ["policies/predictive-resume", "as number) - leadMs;", "as number);"],
  ["policies/predictive-resume", "this.#options.share * seen", "this.#options.share"],
  ["policies/predictive-resume", "plan.holdMs = leadMs + delayMs", "plan.holdMs = delayMs"],
  ["policies/predictive-resume", "Math.min(this.#earliestMs", "Math.max(this.#earliestMs"],
  ["policies/learned-hazard", "longer * (delayMs + this.#breakEvenMs)", "longer * delayMs"],
  ["policies/learned-hazard", "shorterMs += this.#sumsMs[bin] as number;", ""],
  ["policies/learned-hazard", "longer -= this.#counts[bin] as number;", ""],
  ["policies/learned-hazard", "const ENOUGH = 10", "const ENOUGH = 9"],
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
  "active at 60 s": (5 + 180 + 3_600) * SECOND,
  "active at 375 s": (500 + 3_600) * SECOND,
  "active with a tail": 65 * SECOND,
  ...Object.fromEntries(
    ["fixed", "any", "coupled", "metered"].flatMap((kernel) => [
      [`${kernel}: cold starts at 60 s`, 2],
      [`${kernel}: active`, (5 + 60 + 60 + 60 + 3_600) * SECOND],
      [`${kernel}: cold starts with a latency`, 2],
      [`${kernel}: active with a latency`, 125 * SECOND + 70 * SECOND + 3_610 * SECOND],
      [`${kernel}: starting`, 30 * SECOND],
      [`${kernel}: waits`, 39 * SECOND],
      [`${kernel}: starting at the end`, 10 * SECOND],
      [`${kernel}: cold starts at deadlines`, 2],
      [`${kernel}: active at deadlines`, 135_000 + 70_001 + 180_500],
    ]),
  ),
  "cold starts of each gap": 7,
  "clairvoyant cold starts": 2,
  "clairvoyant active": (65 + 3_600) * SECOND,
  "randomised delay": 300 * Math.log(1 + 0.5 * (Math.E - 1)),
  "Erlang B": 0.4,
  "Erlang C": 4 / 9,
  // Blocks 1 2 3 1 1 2: at the second 1 two others were used since, at the third none, at the second 2 two.
  "cache: hits of one block": 1,
  "cache: hits of two blocks": 1,
  "cache: hits of three blocks": 3,
  "cache: hits of one, of two in turns": 0,
  "cache: hits of two, of two in turns": 2_998,
  "cache: hits after a start": 1,
  "cache: uses that samples stand for": 200,
  // Five at 0 that end at 50, 40, 30, 20, 10: at 20 two have ended, so of three the last is refused.
  "connections: peak": 5,
  "connections: refused": 1,
  // At 25 two come in, at 35 and at 45 one each.
  "connections: freed again": 0,
  // The third waits from 10 to 50, the fourth from 20 to 55; with three clients it is refused.
  "pool: waits": 40 + 35,
  "pool: refused as one client too many": 1,
  "pool: refused at the limit of the wait": 0,
  "pool: refused behind it": 1,
  // From 5 to 100, from 6 to 107; with a pool each, only the second of the first pool waits, from 7 to 100.
  "pool: waits for the ceiling": 95 + 101,
  "pool: waits in two pools": 93,
  // Four vCPUs for a second, then one: of 1 CU. By halves: 2 vCPUs ask for 3 CU until a minute after them.
  "sizes: throttled": 1,
  "sizes: CU-seconds by load": 3 * 61 + (3_600 - 61),
  "sizes: changes": 2,
  "sizes: CU-seconds by memory": 2 * 3_600,
  "sizes: CU-seconds by the working set": 2 * 3_600,
  "sizes: CU-seconds of a moment": 2 * 60 + (3_600 - 60),
  // One start after another, of ten seconds each: of who came at 0, at 1 s and at 2 s.
  "starts: most under way": 1,
  "starts: waits for turns": 10_000 + 19_000 + 28_000,
  "starts: longest wait": 28_000,
  "starts: waits for turns behind the end": 10_000 + 19_000 + 28_000,
  "starts: prepared again": 2,
  "starts: not prepared again": 1,
  // 5 s of one, then both: half a millisecond above 25 s is used up within the next one.
  "quota: reached": 15_001,
  "quota: reached as it is as much": 25_000,
  "quota: refused": 2,
  "quota: refused until the next month": 1,
  "quota: seconds of the next month": 10 + 60,
  // At 0, 50 s (of the second) and 100 s, with a delay of 60 s.
  "attribution: all": 160 * SECOND,
  "attribution: without the first": 60 * SECOND,
  "attribution: without the second": 120 * SECOND,
  "attribution: the first alone": 120 * SECOND,
  "attribution: requests of the first": 2,
  // Of 100 idle times the fifth is in minute 10, the 99th in minute 20.
  "hybrid: fallback": 300 * SECOND,
  "hybrid: resumes": 0.9 * 600 * SECOND,
  "hybrid: holds": 1.15 * 1_260 * SECOND - 540 * SECOND,
  "hybrid: resumes far away": 0.85 * 5.3 * 3_600 * SECOND,
  // In a week at 10:20, ten minutes before.
  "predictive: resumes": (7 * 24 + 10) * 3_600 * SECOND + 600 * SECOND,
  "predictive: holds": 900 * SECOND,
  "predictive: resumes when it came once in four weeks": 0,
  // Bins grow by 7 %: 30 s are in the 51st. To wait for the one of 1000 s is dearer than to start for it.
  "hazard: of nine": 60 * SECOND,
  "hazard: of ten": Math.ceil(1.07 ** 51 * SECOND),
};
