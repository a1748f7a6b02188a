import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { AccountServer } from "../../support/account/account-server.ts";
import { mirrorHistory } from "../../support/account/recorded-world.ts";
import { runStandin } from "../../support/process/in-process-command.ts";
import { journalOf, startServer, testDirectory } from "../../support/server/running-server.ts";
import { forkWorldOn } from "../../support/server/worlds.ts";

const FORKED_AT = "2026-01-05T02:00:00.000Z";
const SECOND_MS = 1_000;

type Changes = { readonly starts: readonly number[]; readonly suspends: readonly number[] };

/** When each compute was started and suspended after the instant of the fork. */
async function changesAfterFork(
  client: Pick<AccountServer, "sim">,
  computes: readonly string[],
): Promise<readonly Changes[]> {
  const events = (await journalOf(client)).filter(({ at }) => at > FORKED_AT);
  return computes.map((endpoint) => ({
    starts: events.flatMap((event) =>
      event.type === "OperationScheduled" &&
      event.operation.action === "start_compute" &&
      event.operation.endpoint_id === endpoint
        ? [Date.parse(event.at)]
        : [],
    ),
    suspends: events.flatMap((event) =>
      event.type === "ComputeSuspended" && event.endpoint_id === endpoint ? [Date.parse(event.at)] : [],
    ),
  }));
}

/** A server on a world with the past of an account, and the arrivals of that past. */
async function recordedPast() {
  // The starts of the fork take another time than the recorded ones.
  const mirrored = await mirrorHistory(["--durations", "varied", "--seed", "21"]);
  const out = join(testDirectory(), "shop.ndjson");
  expect(await runStandin(["account", "arrivals", mirrored.file, "--out", out])).toMatchObject({
    ...{ code: 0, stderr: "" },
    stdout: expect.stringMatching(/^wrote .*shop.ndjson: \d+ arrivals of 2 computes\n$/),
  });
  const world = await startServer(mirrored.data);
  const fork = async (name: string) => await forkWorldOn(world, { name, at: FORKED_AT });
  return { ...mirrored, out, world, fork };
}

async function goOn(
  past: Awaited<ReturnType<typeof recordedPast>>,
  fork: Awaited<ReturnType<typeof forkWorldOn>>,
  name: string,
) {
  const { account, data, out } = past;
  const sent = await runStandin(["activity", "--file", out, "--data", data, "--world", name, "--json"]);
  expect(sent).toMatchObject({ code: 0, stderr: "" });
  const { now } = (await account.sim("GET", "/clock")).body;
  await fork.sim("POST", "/clock/advance", { to: now });
  return { counts: JSON.parse(sent.stdout), changes: await changesAfterFork(fork, account.computes) };
}

test("a fork that goes on with the recorded arrivals repeats the recorded starts and suspends", async () => {
  const past = await recordedPast();
  const { counts, changes } = await goOn(past, await past.fork("tuesday"), "tuesday");
  expect(counts).toMatchObject({ now: FORKED_AT, later: 0, unknown_endpoints: {} });
  expect(counts.earlier).toBeGreaterThan(0);
  const recorded = await changesAfterFork(past.account, past.account.computes);
  for (const [index, { starts, suspends }] of recorded.entries()) {
    expect(starts.length).toBeGreaterThanOrEqual(4);
    for (const [kind, instants] of Object.entries({ starts, suspends })) {
      const ours = changes[index]?.[kind as keyof Changes] ?? [];
      expect({ kind, count: ours.length }).toEqual({ kind, count: instants.length });
      for (const [number, at] of instants.entries())
        expect(Math.abs((ours[number] ?? 0) - at)).toBeLessThanOrEqual(SECOND_MS);
    }
  }
}, 60_000);

test("with a delay of 60 s, the recorded arrivals cause at least as many starts", async () => {
  const past = await recordedPast();
  const { account } = past;
  const fork = await past.fork("shorter");
  const { key } = (await fork.sim("POST", "/api_keys", { key_name: "test" })).body;
  for (const [index, endpoint] of account.computes.entries()) {
    const path = `/projects/${account.projects[index]}/endpoints/${endpoint}` as const;
    const changed = await fork.api("PATCH", path, { endpoint: { suspend_timeout_seconds: 60 } }, key);
    expect(changed.status).toBe(200);
  }
  const { changes } = await goOn(past, fork, "shorter");
  const recorded = await changesAfterFork(account, account.computes);
  for (const [index, { starts, suspends }] of recorded.entries()) {
    const ours = changes[index];
    expect(ours?.starts.length).toBeGreaterThanOrEqual(starts.length);
    // Each suspend comes 4 min earlier.
    expect(suspends.at(-1) ?? 0).toBeGreaterThan((ours?.suspends.at(-1) ?? 0) + 239 * SECOND_MS);
  }
}, 60_000);

test("arrivals of other computes, or outside the time, are left out and counted", async () => {
  const past = await recordedPast();
  const lines = readFileSync(past.out, "utf8").trimEnd().split("\n");
  const other = { endpoint_id: "ep-other", at: "2026-01-05T03:00:00Z", duration_ms: 0 };
  writeFileSync(past.out, `${[...lines, JSON.stringify(other)].join("\n")}\n`);
  await past.fork("short");
  const target = ["--data", past.data, "--world", "short"];
  const sent = await runStandin([
    "activity",
    "--file",
    past.out,
    ...target,
    "--until",
    "2026-01-05T02:30:00Z",
  ]);
  expect(sent).toMatchObject({ code: 0, stderr: "" });
  const counts = sent.stdout.match(/\d+(?= arrivals?)/g)?.map(Number) ?? [];
  expect(counts).toHaveLength(4);
  expect(counts.reduce((sum, count) => sum + count, 0)).toBe(lines.length + 1);
  expect(sent.stdout).toContain("skipped 1 arrival at 1 compute that the world does not have");

  const early = ["activity", "--file", past.out, ...target, "--until", FORKED_AT];
  expect(await runStandin(early)).toMatchObject({ code: 1, stdout: expect.stringContaining("scheduled 0") });
}, 60_000);

test.each([
  [["activity"], "expected the id of a compute, or --file"],
  [["activity", "ep-one", "--file", "shop.ndjson"], "--file: the recording names the computes"],
  [["activity", "ep-one", "--until", "2026-01-05T00:00:00Z"], "--until: has an effect only with --file"],
  [["activity", "--file", "shop.ndjson", "--duration", "5s"], "--duration"],
])("%j is a usage error", async (args, message) => {
  expect(await runStandin(args)).toMatchObject({
    code: 2,
    stdout: "",
    stderr: expect.stringContaining(message),
  });
});

test("an existing recording is replaced only with --force, and a damaged one is refused with its line", async () => {
  const { file, data } = await mirrorHistory();
  const out = join(testDirectory(), "shop.ndjson");
  writeFileSync(out, '{"endpoint_id": "ep-one", "at": "2026-01-05T03:00:00Z"}\nno JSON\n');
  const write = ["account", "arrivals", file, "--out", out];
  expect(await runStandin(write)).toMatchObject({ code: 1, stderr: expect.stringContaining("--force") });
  expect(await runStandin(["activity", "--file", out, "--data", data])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("line 2"),
  });
  for (const [field, row] of [
    ["source", { source: "s".repeat(257) }],
    ["duration", { at: "9999-12-31T00:00:00Z", duration_ms: 86_400_001 }],
  ] as const) {
    writeFileSync(out, JSON.stringify({ endpoint_id: "ep-one", at: "2026-01-05T03:00:00Z", ...row }));
    expect(await runStandin(["activity", "--file", out, "--data", data])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(`--file: ${out}: ${field}: `),
    });
  }
  expect(await runStandin([...write, "--force"])).toMatchObject({ code: 0 });
  expect(await runStandin(["account", "arrivals", file, "--out", "shop.csv"])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("must end in .ndjson"),
  });
}, 60_000);
