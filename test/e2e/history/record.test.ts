import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { runStandin } from "../../support/process/in-process-command.ts";
import {
  createProjectOn,
  type RunningServer,
  startServer,
  testDirectory,
} from "../../support/server/running-server.ts";

const MANUAL = [
  "--clock",
  "manual",
  "--start-at",
  "2026-01-01T00:00:00Z",
  "--seed",
  "5",
  "--api-key",
  "a-key-that-nobody-guesses",
];

const advance = (server: RunningServer, by: string) => server.sim("POST", "/clock/advance", { by });

async function branches(
  server: RunningServer,
  projectId: string,
  names: readonly string[],
): Promise<number[]> {
  const statuses: number[] = [];
  for (const name of names) {
    const { status } = await server.api("POST", `/projects/${projectId}/branches`, {
      branch: { name },
      endpoints: [{ type: "read_write" }],
    });
    statuses.push(status);
    await advance(server, "1m");
  }
  return statuses;
}

/** A day with many changes, including faults and a kill. */
async function eventfulWorld(data: string): Promise<RunningServer> {
  const first = await startServer(data, MANUAL);
  const { projectId, endpointId } = await createProjectOn(first, { name: "shop" });
  const { body: key } = await first.api("POST", "/api_keys", { key_name: "ci" });
  expect(
    (await first.api("PATCH", `/projects/${projectId}`, { project: { name: "renamed" } }, key.key)).status,
  ).toBe(200);
  await first.sim("POST", "/activity", { endpoint_id: endpointId, duration_ms: 5_000 });
  await first.sim("POST", "/activity", { endpoint_id: endpointId, at: "2026-01-01T01:00:00Z", load: 2 });
  await first.sim("POST", "/accounts", { name: "second", id: "second" });
  await first.sim("PATCH", "/accounts/second", { plan: "free" });
  await first.sim("PUT", "/faults/flaky", {
    on: { operation: "createProjectBranch" },
    when: { probability: 0.5 },
    effect: { answer: { status: 503 } },
  });
  await first.sim("PUT", "/faults/slow", {
    on: { action: "start_compute" },
    when: { every: 2 },
    effect: { operation_fails: { times: 2 } },
  });
  const statuses = await branches(first, projectId, ["one", "two", "three", "four", "five"]);
  await first.kill("SIGKILL");
  const second = await startServer(data, [], { key: "a-key-that-nobody-guesses" });
  statuses.push(...(await branches(second, projectId, ["six", "seven", "eight"])));
  expect(new Set(statuses)).toEqual(new Set([201, 503]));
  expect((await second.api("OPTIONS", `/projects/${projectId}`)).status).toBe(405);
  await advance(second, "3h");
  return second;
}

test("a recorded history replays to the same state and contains no secret", async () => {
  const data = testDirectory();
  const server = await eventfulWorld(data);
  const out = join(testDirectory(), "not", "there", "yet", "day.yaml");
  const recorded = await runStandin(["record", "--data", data, "--out", out, "--json"]);
  expect({ code: recorded.code, stderr: recorded.stderr }).toEqual({ code: 0, stderr: "" });
  const { state, omitted, world_file } = JSON.parse(recorded.stdout);
  expect([omitted, existsSync(world_file)]).toEqual([[], true]);
  expect(readFileSync(out, "utf8") + readFileSync(world_file, "latin1")).not.toContain(
    "a-key-that-nobody-guesses",
  );
  const played = await runStandin(["run", out, "--json"]);
  const [run] = JSON.parse(played.stdout).runs;
  expect([played.code, run.verdict, run.state, run.failures]).toEqual([0, "passed", state, []]);
  expect(run.ended_at).toBe((await server.sim("GET", "/clock")).body.now);
});

test("the recording of a part of the history starts at --from and ends at --to", async () => {
  const data = testDirectory();
  const server = await eventfulWorld(data);
  const at = async (by: string) => {
    await server.sim("POST", "/accounts", { name: by });
    return (await advance(server, by)).body.now as string;
  };
  const [from, to] = [await at("1m"), await at("2m")];
  await at("3m");
  const out = join(testDirectory(), "part.yaml");
  const recorded = await runStandin(["record", "--data", data, "--from", from, "--to", to, "--out", out]);
  expect(recorded.code).toBe(0);
  expect(recorded.stdout).toContain("(1 step)");
  const { runs } = JSON.parse((await runStandin(["run", out, "--json"])).stdout);
  expect(runs).toMatchObject([{ verdict: "passed", started_at: from, ended_at: to }]);
});

test("what cannot be reproduced is reported, and then the scenario has no final state", async () => {
  const data = testDirectory();
  const server = await startServer(data, MANUAL);
  await createProjectOn(server);
  await server.sim("POST", "/reset", {});
  const out = join(testDirectory(), "reset.yaml");
  const { code, stdout, stderr } = await runStandin(["record", "--data", data, "--out", out]);
  expect(code).toBe(1);
  expect(stdout).not.toContain("state");
  expect(stderr).toMatch(
    /^standin: cannot reproduce: WorldReset at 2026-01-01T00:00:10.000Z: start the recording after it$/m,
  );
  expect(readFileSync(out, "utf8")).not.toMatch(/^state:/m);
});

test("names that look like references or matrix values replay unchanged, also in the file name", async () => {
  const data = testDirectory();
  const server = await startServer(data, MANUAL);
  const { projectId } = await createProjectOn(server);
  const { body: key } = await server.api("POST", "/api_keys", { key_name: "{key_2}" });
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the syntax of matrix values.
  for (const name of ["${x}", `{${projectId}}`, "{key_2}", "a$$b", "{{key_2}} and $${x}"])
    expect((await server.api("PATCH", `/projects/${projectId}`, { project: { name } }, key.key)).status).toBe(
      200,
    );
  const out = join(testDirectory(), "a$$b.yaml");
  expect((await runStandin(["record", "--data", data, "--out", out])).code).toBe(0);
  const played = await runStandin(["run", out, "--json"]);
  expect([played.stderr, played.code]).toEqual(["", 0]);
});

test("a world cannot be recorded before its first key; from the key on it can", async () => {
  const data = testDirectory();
  const server = await startServer(data, MANUAL);
  await createProjectOn(server);
  const recordFrom = (seq: string, out: string) =>
    runStandin(["record", "--data", data, "--from", seq, "--out", out]);
  for (const seq of ["1", "2"]) {
    const out = join(testDirectory(), "early.yaml");
    const { code, stderr } = await recordFrom(seq, out);
    expect([code, stderr, existsSync(out)]).toEqual([
      1,
      expect.stringContaining("the world has no API key at this point"),
      false,
    ]);
  }
  const out = join(testDirectory(), "first.yaml");
  expect((await recordFrom("3", out)).code).toBe(0);
  expect((await runStandin(["run", out])).code).toBe(0);
});

test("the seed of a recorded world is fixed, and another one is rejected", async () => {
  const data = testDirectory();
  await createProjectOn(await startServer(data, MANUAL));
  const out = join(testDirectory(), "mine.yaml");
  await runStandin(["record", "--data", data, "--out", out]);
  const { code, stderr } = await runStandin(["run", out, "--seed", "7"]);
  expect([code, stderr]).toEqual([
    2,
    expect.stringMatching(/^standin: --seed 7: the initial world of \S+ already has a seed/),
  ]);
  // The repeat command of a report.
  expect((await runStandin(["run", out, "--seed", "1"])).code).toBe(0);
});

test("changes whose requests are not retained are reported, and the exit code is 1", async () => {
  const data = testDirectory();
  const server = await startServer(data, [...MANUAL, "--requests-limit", "0"]);
  const { endpointId } = await createProjectOn(server);
  await advance(server, "1h");
  await server.sim("POST", "/activity", { endpoint_id: endpointId });
  const { code, stderr } = await runStandin([
    "record",
    "--data",
    data,
    "--out",
    join(testDirectory(), "none.yaml"),
  ]);
  expect([code, stderr]).toEqual([
    1,
    expect.stringMatching(
      /^standin: cannot reproduce: changes from \S+ to \S+ \(ProjectCreated\): the request log does not have their requests, because SQL made these changes or the log was cut/,
    ),
  ]);
});

test("requests that are no longer retained cannot be recorded; an existing file is not overwritten", async () => {
  const data = testDirectory();
  const server = await startServer(data, [...MANUAL, "--requests-limit", "2"]);
  const { projectId } = await createProjectOn(server);
  for (const name of ["one", "two", "three"]) {
    await server.api("PATCH", `/projects/${projectId}`, { project: { name } });
    await advance(server, "1m");
  }
  const out = join(testDirectory(), "late.yaml");
  const refused = await runStandin(["record", "--data", data, "--out", out]);
  expect([refused.code, existsSync(out)]).toEqual([1, false]);
  expect(refused.stderr).toMatch(
    /requests before 2026-01-01T00:0\d:\d\d.000Z are no longer in the request log; choose a later --from, or retain more requests/,
  );
  const late = await runStandin(["record", "--data", data, "--from", "2026-01-01T00:02:00Z", "--out", out]);
  expect(late.code).toBe(0);
  const backwards = ["--from", "2026-01-01T00:02:30Z", "--to", "2026-01-01T00:02:20Z"];
  const nothing = await runStandin(["record", "--data", data, ...backwards, "--out", `${out}.other.yaml`]);
  expect([nothing.code, nothing.stderr]).toEqual([1, "standin: --to is before --from\n"]);
  const again = await runStandin(["record", "--data", data, "--out", out]);
  expect([again.code, again.stderr]).toEqual([1, expect.stringContaining("already exists")]);
});

test("an effect that a fault delayed is delayed again, and the run ends in the same state", async () => {
  const data = testDirectory();
  const server = await startServer(data, MANUAL);
  const { projectId } = await createProjectOn(server);
  const slow = {
    on: { operation: "createProjectBranch" },
    effect: { latency: { takes: "5s..15s", clock: "world" } },
  };
  await server.sim("PUT", "/faults/slow", slow);
  expect(await branches(server, projectId, ["one", "two"])).toEqual([201, 201]);
  await server.sim("PUT", "/faults/slower", { ...slow, effect: { latency: "1m" } });
  expect(await branches(server, projectId, ["three"])).toEqual([201]);
  const out = join(testDirectory(), "slow.yaml");
  const recorded = await runStandin(["record", "--data", data, "--out", out]);
  expect([recorded.code, recorded.stderr]).toEqual([0, ""]);
  const played = await runStandin(["run", out, "--json"]);
  expect(JSON.parse(played.stdout).runs).toMatchObject([{ verdict: "passed", failures: [] }]);
});

test("a running server makes one file of a part of its history, which runs green", async () => {
  const server = await startServer(testDirectory(), MANUAL);
  const { projectId, endpointId } = await createProjectOn(server, { name: "shop" });
  await server.api("GET", "/projects");
  const from = (await advance(server, "1h")).body.now;
  await server.sim("POST", "/activity", { endpoint_id: endpointId, duration_ms: 5_000 });
  await advance(server, "2s");
  const branch = { branch: { name: "preview" }, endpoints: [{ type: "read_write" }] };
  const statuses = [
    (await server.api("POST", `/projects/${projectId}/branches`, branch)).status,
    (await server.api("POST", `/projects/${projectId}/branches`, branch)).status,
  ];
  expect(statuses).toEqual([201, 409]);
  const to = (await advance(server, "10m")).body.now;
  await server.api("PATCH", `/projects/${projectId}`, { project: { name: "later" } });

  const { status, body } = await server.sim("GET", `/scenario?from=${from}&to=${to}`);
  expect([status, body.steps, body.omitted]).toEqual([200, 3, []]);
  expect(body.scenario.includes("a-key-that-nobody-guesses")).toBe(false);
  expect(body.scenario.length).toBeLessThan(50_000);
  const file = join(testDirectory(), "selection.yaml");
  writeFileSync(file, body.scenario);
  const played = await runStandin(["run", file, "--json"]);
  expect(JSON.parse(played.stdout).runs).toMatchObject([
    { verdict: "passed", started_at: from, ended_at: to, state: body.state },
  ]);

  writeFileSync(file, body.scenario.replace(/base64,\n(\s*)..../, "base64,\n$1AAAA"));
  const damaged = await runStandin(["run", file]);
  expect([damaged.code, damaged.stderr]).toEqual([
    2,
    expect.stringContaining("world.file: the embedded world is damaged"),
  ]);
  for (const [query, message] of [
    ["from=2027-01-01T00:00:00Z", "from"],
    [`from=${to}&to=${from}`, "to is before from"],
    ["from=soon", "from"],
  ] as const) {
    const refused = await server.sim("GET", `/scenario?${query}`);
    expect([refused.status >= 400 && refused.status < 500, refused.body.message]).toEqual([
      true,
      expect.stringContaining(message),
    ]);
  }
});

test("of many calls at the same time, 8 are answered, and the others are 429", async () => {
  const server = await startServer(testDirectory(), MANUAL);
  const answers = await Promise.all(Array.from({ length: 20 }, () => server.sim("GET", "/scenario")));
  expect(answers.map(({ status }) => status).sort()).toEqual([
    ...Array.from({ length: 8 }, () => 200),
    ...Array.from({ length: 12 }, () => 429),
  ]);
  const refused = answers.find(({ status }) => status === 429);
  expect(refused?.body.message).toBe("8 scenarios are being recorded, which is the limit; try again later");
  expect((await server.sim("GET", "/scenario")).status).toBe(200);
});
