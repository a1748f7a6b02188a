import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { CurveSummary } from "../../../src/whatif/questions/curve/curve-summary.ts";
import { operationIdsOf } from "../../support/account/account-server.ts";
import { activePeriods, mirrorHistory } from "../../support/account/recorded-world.ts";
import { runStandin } from "../../support/process/in-process-command.ts";
import { journalOf, startServer, testDirectory } from "../../support/server/running-server.ts";
import { forkWorldOn } from "../../support/server/worlds.ts";
import { runWhatif } from "../../support/whatif/whatif-command.ts";

test("a world with the past of an account has its ids, operations and periods, and verifies", async () => {
  const { account, data } = await mirrorHistory();
  expect(await runStandin(["verify", data])).toMatchObject({ code: 0 });
  const world = await startServer(data);
  const own = { ...account, ...world, key: world.ready.api_key ?? "" };
  expect(await operationIdsOf(own)).toEqual(await operationIdsOf(account));
  for (const [index, endpoint] of account.computes.entries()) {
    const path = `/projects/${account.projects[index]}/endpoints/${endpoint}`;
    const [theirs, ours] = [await account.api("GET", path), await world.api("GET", path)];
    expect(ours.body.endpoint).toMatchObject({
      id: endpoint,
      current_state: theirs.body.endpoint.current_state,
      suspend_timeout_seconds: theirs.body.endpoint.suspend_timeout_seconds,
      branch_id: theirs.body.endpoint.branch_id,
    });
    expect(await activePeriods(world, endpoint)).toEqual(await activePeriods(account, endpoint));
  }
  expect((await world.sim("GET", "/invariants")).body).toMatchObject({ ok: true });
  expect((await world.sim("GET", "/clock")).body).toMatchObject({
    mode: "manual",
    now: (await account.sim("GET", "/clock")).body.now,
  });
});

test("explain and the timeline show the recorded past, and say what is not known of it", async () => {
  const { account, data } = await mirrorHistory();
  const world = await startServer(data);
  const [endpoint = ""] = account.computes;
  const { summary } = (await world.sim("GET", `/explain/endpoints/${endpoint}`)).body;
  expect(summary).toContain("as recorded by the platform that this past was read from");
  const [operation] = (await world.api("GET", `/projects/${account.projects[0]}/operations`)).body.operations;
  const explained = (await world.sim("GET", `/explain/operations/${operation.id}`)).body.summary;
  expect(explained).toContain("by the platform that this past was read from, which does not say why");
  const { endpoints } = (await world.sim("GET", "/timeline?points=300")).body;
  const drawn = endpoints.map(({ endpoint_id }: { endpoint_id: string }) => endpoint_id);
  expect(drawn.sort()).toEqual([...account.computes].sort());
});

test("a fork of a recorded past goes on by the rules, with another delay", async () => {
  const { account, data } = await mirrorHistory();
  const world = await startServer(data);
  const [endpoint = ""] = account.computes;
  const periods = await activePeriods(account, endpoint);
  const [, suspendedAt = ""] = periods[2] ?? [];
  const lastUse = new Date(Date.parse(suspendedAt) - 300_000);
  const at = new Date(lastUse.getTime() - 1_000).toISOString();
  const fork = await forkWorldOn(world, { name: "shorter", at });
  const path = `/projects/${account.projects[0]}/endpoints/${endpoint}` as const;
  // The key of the server is newer than that instant.
  const { key } = (await fork.sim("POST", "/api_keys", { key_name: "test" })).body;
  const changed = await fork.api("PATCH", path, { endpoint: { suspend_timeout_seconds: 60 } }, key);
  expect(changed.status).toBe(200);
  await fork.sim("POST", "/clock/advance", { by: "10m" });
  const suspended = (await journalOf(fork)).filter(
    (event) => event.type === "ComputeSuspended" && event.endpoint_id === endpoint,
  );
  expect(suspended.at(-1)).toMatchObject({
    cause: "autosuspend",
    at: new Date(lastUse.getTime() + 60_000).toISOString(),
  });
});

test("what-if on the world gives the answers of the file for delays at or above the one in force", async () => {
  const { account, data } = await mirrorHistory();
  const { stderr } = await runStandin(["whatif", "curve", "--data", data]);
  expect(stderr).toContain("requests within the periods of the recorded past are not known");
  for (const delay of ["300", "600", "3600", "86400"]) {
    const [ours, theirs] = (await Promise.all(
      [data, account.data].map((path) => runWhatif(["curve", "--data", path, "--delay", delay])),
    )) as unknown as [CurveOfDelay, CurveOfDelay];
    expect({ delay, starts: ours.with_latency.cold_starts }).toEqual({
      delay,
      starts: theirs.with_latency.cold_starts,
    });
    // Each start and each suspend is known to a second.
    expect(Math.abs(ours.with_latency.active_s - theirs.with_latency.active_s)).toBeLessThan(
      2 * account.computes.length * 12,
    );
  }
});

type CurveOfDelay = CurveSummary & {
  readonly with_latency: { readonly cold_starts: number; readonly active_s: number };
};

test("the same file gives the same world, and another one of its name is refused", async () => {
  const { file, data } = await mirrorHistory();
  const again = testDirectory();
  // A server that the environment names is one for other commands.
  const ofOthers = { STANDIN_URL: "http://127.0.0.1:1", STANDIN_API_KEY: "k".repeat(32) };
  expect(await runStandin(["mirror", "--history", file, "--data", again], ofOthers)).toMatchObject({
    code: 0,
  });
  const [first, second] = await Promise.all(
    [data, again].map(async (from) => {
      const out = join(testDirectory(), "events.ndjson");
      expect(await runStandin(["export", from, "--events", "--out", out])).toMatchObject({ code: 0 });
      return readFileSync(out, "utf8");
    }),
  );
  expect(first).toBe(second);
  expect(await runStandin(["mirror", "--history", file, "--data", data])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('already has a world "default"; choose another --world or --data'),
  });
  for (const flag of ["--url", "--key", "--from-key"])
    expect(
      await runStandin(["mirror", "--history", file, "--data", data, flag, `http://${"k".repeat(32)}`]),
    ).toMatchObject({ code: 2, stderr: expect.stringContaining(`cannot be used with ${flag}`) });
  for (const [flag, value] of [["--profile", "2026"] as const, ["--seed", "7"] as const])
    expect(await runStandin(["mirror", "--from", "http://127.0.0.1:1/api/v2", flag, value])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(`${flag}: has an effect only with --history`),
    });
  expect(await runStandin(["mirror", "--history", `${file}.missing`, "--data", data])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("does not exist"),
  });
  expect(
    await runStandin(["mirror", "--history", file, "--from", "http://127.0.0.1:1/api/v2"]),
  ).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("--history"),
  });
});
