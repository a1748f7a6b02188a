import { join } from "node:path";
import BetterSqlite3 from "better-sqlite3";
import { afterAll, expect, test } from "vitest";
import { verifyWorldFile } from "../../../src/cli/history/world-history.ts";
import { REVOKED_KEY_RETENTION } from "../../../src/platform/model/api-key.ts";
import { randomFrom } from "../../../src/simulation/random.ts";
import type { AnsweredEvent } from "../../support/answers/control-answers.ts";
import { API_KEY, createDouble, START } from "../../support/double/double.ts";
import { KILLS, KillCounts } from "../../support/durability/crashes.ts";
import { Writer } from "../../support/durability/writer.ts";
import { spawnStandin } from "../../support/process/process.ts";
import {
  journalOf,
  type RunningServer,
  type ServerClient,
  startServer,
  testDirectory,
} from "../../support/server/running-server.ts";

const SEED = Number(process.env["STANDIN_TEST_SEED"] ?? 20260101);
const REPEAT = `to repeat: STANDIN_TEST_SEED=${SEED} STANDIN_TEST_KILLS=${KILLS} npx vitest run test/e2e/durability/kill.test.ts`;
const ROUNDS = KILLS;
const MODES = ["manual", "real", "5000x"].flatMap((clock) => [
  [clock, "timed"] as const,
  [clock, "immediate"] as const,
]);
const LANES = 24;
const chance = randomFrom(SEED);
const tally = new KillCounts();

afterAll(() => tally.print());

test.each(MODES)(
  "on a %s clock with %s operations, a server killed while writing loses nothing that it acknowledged, and its file is intact",
  async (clock, operations) => {
    const data = testDirectory();
    const draw = chance.stream(`kill ${clock} ${operations}`, 1);
    const writer = new Writer();
    const shape = ["--clock", clock, "--operations", operations, "--seed", String(SEED)];
    let history: AnsweredEvent[] = [];
    for (let round = 1; round <= ROUNDS; round += 1) {
      const server = await startServer(data, round === 1 ? shape : [], {
        key: API_KEY,
        env: { STANDIN_API_KEY: API_KEY },
      });
      writer.latestInstant = (await server.sim("GET", "/clock")).body.now;
      const killAt = writer.acknowledged + 150 + (draw() % 400);
      let killed = false;
      const written = writer.write(server, LANES, draw, () => {
        if (!killed && writer.acknowledged >= killAt) {
          killed = true;
          server.process.kill("SIGKILL");
        }
        return killed;
      });
      await written;
      expect(await server.ended, REPEAT).toBeNull();
      tally.add(`write, ${clock} clock, ${operations} operations`, killed);
      await expectVerified(data);

      const restarted = await startServer(data, [], { key: API_KEY });
      await expectEverythingThere(restarted, writer);
      const events = await journalOf(restarted);
      expectUnbroken(events);
      expect(events.slice(0, history.length), REPEAT).toEqual(history);
      history = events;
      await restarted.kill("SIGKILL");
      await expectVerified(data);
    }
    expect(writer.activities.length).toBeGreaterThan(0);
    expect(writer.revokedKeys.length).toBeGreaterThan(0);
  },
);

test("killed during a long advance, the world is at a commit and reaches the same end state", async () => {
  const data = testDirectory();
  const end = new Date(START + 40 * 86_400_000).toISOString();
  const twin = await createDouble({ seed: SEED });
  await makeBusy(twin);
  await twin.sim("POST", "/clock/advance", { to: end });
  const whole = await journalOf(twin);

  const shape = ["--clock", "manual", "--seed", String(SEED), "--start-at", new Date(START).toISOString()];
  let server = await startServer(data, shape, { env: { STANDIN_API_KEY: API_KEY } });
  await makeBusy(server);
  const file = new BetterSqlite3(join(data, "worlds", "default.sqlite"), { readonly: true });
  const committed = () => file.prepare("SELECT seq FROM world").pluck().get() as number;
  for (const share of [0.1, 0.4]) {
    const killAt = Math.round(whole.length * share);
    const advance = server.sim("POST", "/clock/advance", { to: end }).catch(() => "lost");
    while (committed() < killAt) await new Promise(setImmediate);
    await server.kill("SIGKILL");
    expect(await advance).toBe("lost");
    await expectVerified(data);
    tally.add("advance", true);

    server = await startServer(data, [], { key: API_KEY });
    const events = await journalOf(server);
    expect(events.length).toBeGreaterThanOrEqual(killAt);
    expect(events.length).toBeLessThan(whole.length);
    expect(events).toEqual(whole.slice(0, events.length));
    expect((await server.sim("GET", "/clock")).body.now).toBe(events.at(-1)?.at);
    expect((await server.sim("GET", "/invariants")).body).toMatchObject({ ok: true });
  }
  file.close();

  const left = server.sim("POST", "/clock/advance", { to: end }).catch(() => "lost");
  expect(await server.kill("SIGTERM")).toBe(0);
  await left;
  server = await startServer(data, [], { key: API_KEY });
  const events = await journalOf(server);
  expect(events).toEqual(whole.slice(0, events.length));
  expect((await server.sim("POST", "/clock/advance", { to: end })).body.now).toBe(end);
  expect(await journalOf(server)).toEqual(whole);
  expect((await server.sim("GET", "/state")).body).toEqual((await twin.sim("GET", "/state")).body);
});

test("a first start killed at any moment leaves a directory that a server can start from", async () => {
  const data = testDirectory();
  const draw = chance.stream("kill start", 1);
  for (let round = 0; round < 6; round += 1) {
    const starting = spawnStandin(["serve", "--data", data, "--port", "0", "--json"]);
    // The progress at the kill is random; nothing waits for it.
    setTimeout(() => starting.process.kill("SIGKILL"), 40 + (draw() % 160));
    tally.add("first start", (await starting.ended) === null);
  }
  const server = await startServer(data);
  expect((await server.sim("GET", "/invariants")).body).toMatchObject({ ok: true });
  expectUnbroken(await journalOf(server));
});

/** What `standin verify` says about the file that the killed server has left. */
async function expectVerified(data: string): Promise<void> {
  const { ok, differences } = await verifyWorldFile(
    join(data, "worlds/default.sqlite"),
    async () => undefined,
  );
  expect(differences, REPEAT).toEqual([]);
  expect(ok).toBe(true);
}

async function expectEverythingThere(server: RunningServer, writer: Writer): Promise<void> {
  const { body: state } = await server.sim("GET", "/state");
  const keys = new Map(state.api_keys.map((key) => [key.id, key]));
  const now = Date.parse((await server.sim("GET", "/clock")).body.now);
  // A fast clock reaches the time when a revoked key is deleted.
  const isExpired = ({ id }: { id: number }) => {
    const revokedAfter = writer.deletionsRequested.get(id);
    const hasExpired = revokedAfter !== undefined && now >= Date.parse(revokedAfter) + REVOKED_KEY_RETENTION;
    return hasExpired && !keys.has(id);
  };
  expect(
    writer.keys.filter((key) => keys.get(key.id)?.name !== key.name && !isExpired(key)),
    REPEAT,
  ).toEqual([]);
  expect(
    writer.revokedKeys.filter((key) => keys.get(key.id)?.revoked_at === undefined && !isExpired(key)),
    REPEAT,
  ).toEqual([]);
  const lost = [...keys.values()].filter(
    (key) => key.revoked_at !== undefined && !writer.deletionsRequested.has(key.id),
  );
  expect(lost, REPEAT).toEqual([]);
  for (const { id, secret } of writer.keys.slice(-3)) {
    const { status } = await server.api("GET", "/users/me", undefined, secret);
    const isValid = keys.has(id) && keys.get(id)?.revoked_at === undefined;
    expect(status, REPEAT).toBe(isValid ? 200 : 401);
  }
  const names = new Map<string, string>(
    state.projects.map((project) => [project.id, project.deleted_at ?? project.name]),
  );
  for (const [id, name] of writer.projects)
    if (!writer.deletionsRequested.has(id)) expect(names.get(id), REPEAT).toBe(name);
  for (const id of writer.deletedProjects)
    expect((await server.api("GET", `/projects/${id}`)).status, REPEAT).toBe(404);
  const sources = new Set((await journalOf(server)).map((event) => event.activity?.source));
  expect(
    writer.activities.filter((source) => !sources.has(source)),
    REPEAT,
  ).toEqual([]);
  expect((await server.sim("GET", "/clock")).body.now >= writer.latestInstant, REPEAT).toBe(true);
  expect((await server.sim("GET", "/invariants")).body, REPEAT).toMatchObject({ ok: true, violations: [] });
}

/** Checks that the sequence has no gap and that the clock never went back. */
function expectUnbroken(events: readonly AnsweredEvent[]): void {
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
  expect(events.filter(({ at }, index) => index > 0 && at < (events[index - 1]?.at ?? ""))).toEqual([]);
}

/**
 * Four computes with traffic for tens of thousands of events: each query starts a compute, which suspends
 * again.
 */
async function makeBusy(client: ServerClient): Promise<void> {
  for (const name of ["one", "two", "three", "four"]) {
    const { body } = await client.api("POST", "/projects", { project: { name } });
    const activities = Array.from({ length: 2000 }, (_, index) => ({
      endpoint_id: body.endpoints[0].id,
      at: new Date(START + (index + 1) * 1_200_000 + name.length * 7).toISOString(),
      duration_ms: index % 9000,
    }));
    await client.sim("POST", "/activity", activities);
  }
}
