import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runStandin } from "../../support/process/in-process-command.ts";
import { temporaryDirectory } from "../../support/process/process.ts";
import { runWhatif } from "../../support/whatif/whatif-command.ts";

const POLICIES = ["--policy", "fixed:60", "--policy", "ski-rental:randomised", "--replications", "2"];
let directory: string;
let remove = () => {};
afterAll(() => remove());
const path = (name: string) => join(directory, name);
const whatif = (...args: readonly string[]) => runStandin(["whatif", ...args]);

/** Requests of six computes, a few a day, for 24 days. */
beforeAll(async () => {
  ({ path: directory, remove } = temporaryDirectory());
  const rows = Array.from({ length: 24 * 30 }, (_, index) => {
    const at = new Date(Date.UTC(2026, 0, 5) + index * 2_893_000).toISOString();
    return `ep-${index % 6},${at},${(index % 7) * 100}`;
  });
  writeFileSync(path("calls.csv"), `endpoint_id,at,duration_ms\n${rows.join("\n")}\n`);
  await whatif("import", path("calls.csv"), "--out", path("all.standin-trace"));
  for (const part of ["1/2", "2/2"]) {
    const shard = ["--shard", part];
    const name = part.slice(0, 1);
    await whatif("import", path("calls.csv"), "--out", path(`${name}.standin-trace`), ...shard);
    await whatif("compare", path("all.standin-trace"), ...POLICIES, "--out", path(`${name}.json`), ...shard);
  }
});

test("compare: the merged parts are the report of one command, with its files", async () => {
  const one = await whatif("compare", path("all.standin-trace"), ...POLICIES, "--out", path("one"));
  expect(one.code).toBe(0);
  const merged = await whatif("merge", path("2.json"), path("1.json"), "--out", path("merged"));
  expect({ code: merged.code, stderr: merged.stderr }).toEqual({ code: 0, stderr: "" });
  expect(merged.stdout.replace("merged", "one")).toBe(one.stdout);
  for (const file of ["summary.json", "manifest.json", "report.html"])
    expect(readFileSync(path(`merged/${file}`), "utf8")).toBe(readFileSync(path(`one/${file}`), "utf8"));
});

test("backtest: the merged parts are the report of one command", async () => {
  const one = await whatif("backtest", path("all.standin-trace"), "--json");
  const parts = [];
  for (const shard of ["1/2", "2/2"]) {
    const { stdout } = await whatif("backtest", path("all.standin-trace"), "--shard", shard);
    parts.push(path(`backtest-${shard.slice(0, 1)}.json`));
    writeFileSync(parts.at(-1) as string, stdout);
  }
  expect((await whatif("merge", ...parts, "--json")).stdout).toBe(one.stdout);
});

const filesOf = ({ files }: { files: readonly object[] }) =>
  files as readonly { readonly trace: string[]; readonly rows: number }[];

test("divided traces give the same figures, and the report names each of them", async () => {
  const names = ["1", "2"];
  for (const name of names) {
    const trace = path(`${name}.standin-trace`);
    expect((await whatif("compare", trace, ...POLICIES, "--out", path(`of-${name}.json`))).code).toBe(0);
  }
  const { input: parts, ...merged } = await runWhatif(["merge", path("of-1.json"), path("of-2.json")]);
  const { input: whole, ...one } = await runWhatif(["compare", path("all.standin-trace"), ...POLICIES]);
  expect(merged).toEqual(one);
  expect(filesOf(parts).map(({ trace }) => trace)).toEqual([["1.standin-trace"], ["2.standin-trace"]]);
  const rows = filesOf(parts).map((file) => file.rows);
  expect(rows.every((count) => count > 0)).toBe(true);
  expect((rows[0] ?? 0) + (rows[1] ?? 0)).toBe(filesOf(whole)[0]?.rows);
});

test.each([
  [["compare", "1.standin-trace", "--policy", "best-fixed:fleet"], 2, /best-fixed:fleet needs all of them/],
  [["compare", "1.standin-trace", "--shard", "2/2"], 2, /--shard 2\/2: the trace contains only .* 1\/2$/m],
  [["backtest", "1.standin-trace"], 2, /only the requests of shard 1\/2; backtest needs all of them/],
  [["curve", "1.standin-trace"], 2, /only the requests of shard 1\/2; curve needs all of them/],
  [["merge", "1.json"], 1, /these shards are missing: 2\/2$/m],
  [["merge", "1.json", "1.json"], 1, /1\.json: is shard 1\/2, as .*1\.json is; give each shard once/],
  [["merge", "1.json", "calls.csv"], 1, /calls\.csv: is not a part/],
  [["merge", "calls.csv", "--json"], 2, /--json: applies to parts/],
  [["compare", "all.standin-trace", "--shard", "3/2"], 2, /--shard: expected a part such as 1\/3/],
] as const)("%j exits with %i", async ([command, ...args], code, message) => {
  const files = args.map((arg) => (/\.(json|csv|standin-trace)$/.test(arg) ? path(arg) : arg));
  const result = await whatif(command, ...files);
  expect({ code: result.code, stdout: result.stdout }).toEqual({ code, stdout: "" });
  expect(result.stderr).toMatch(message);
});

test("a part that was changed, cut off or written for another question is refused", async () => {
  const text = readFileSync(path("1.json"), "utf8");
  const refusal = async (changed: string) => {
    writeFileSync(path("changed.json"), changed);
    return (await whatif("merge", path("changed.json"), path("2.json"))).stderr;
  };
  expect(await refusal(text.replace('"arrivals":', '"arrivals":1'))).toMatch(/the part is damaged/);
  expect(await refusal(text.slice(0, -100))).toMatch(/is not a complete part/);
  expect(await refusal(text.replace(/"standin":"[^"]*"/, '"standin":"0.0.1"'))).toMatch(
    /is a part of standin 0\.0\.1; write all parts with standin/,
  );
  await whatif(
    "compare",
    path("all.standin-trace"),
    "--policy",
    "never",
    "--shard",
    "1/2",
    "--out",
    path("n.json"),
  );
  expect(await refusal(readFileSync(path("n.json"), "utf8"))).toMatch(/answers another question than/);
});
