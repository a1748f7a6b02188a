import fs from "node:fs";
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { verifyWorldFile } from "../../../src/cli/history/world-history.ts";
import { HOUR, MINUTE } from "../../../src/kernel/time.ts";
import { API_KEY, START } from "../../support/double/double.ts";
import { TestHost } from "../../support/double/test-host.ts";
import { temporaryDirectory } from "../../support/process/process.ts";
import { createFuzzedWorld, type FuzzedWorld } from "../../support/requests/fuzzed-world.ts";
import { holdSyncs } from "../../support/store/held-syncs.ts";

const HEADERS = { Authorization: `Bearer ${API_KEY}`, "Content-Type": "application/json" };
const ACTIVITIES = 900;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
});

afterEach(() => {
  vi.useRealTimers();
});

test("a commit that the advance did not request stores the instant of its events, and reads show it", async () => {
  const directory = temporaryDirectory();
  const world = await createFuzzedWorld(directory.path, new TestHost(START).clock);
  await listActivities(world, START + 3 * HOUR);
  // The use of the key is stored by a timer.
  await readEndpoint(world);
  let isDone = false;
  const advancing = send(world, "POST", "/_sim/clock/advance", { by: "320h" }).finally(() => {
    isDone = true;
  });
  await turns(5);
  vi.advanceTimersByTime(1_000);
  await turns(5);
  expect(isDone).toBe(false);
  const copy = temporaryDirectory();
  fs.cpSync(directory.path, copy.path, {
    recursive: true,
    filter: (name) => !/\.lock$|-shm$/.test(name),
  });
  const file = fs.readdirSync(copy.path, { recursive: true, encoding: "utf8" }).find(isDatabase);
  const verification = await verifyWorldFile(join(copy.path, file ?? ""), async () => undefined);
  let reads = 0;
  for (; !isDone; await turns(2)) {
    const { date, endpoint } = await readEndpoint(world);
    expect(Date.parse(endpoint.updated_at)).toBeLessThan(date + 1_000);
    reads += 1;
  }
  await advancing;
  await world.close();
  for (const { remove } of [copy, directory]) remove();
  expect(verification).toMatchObject({ ok: true, differences: [] });
  expect(reads).toBeGreaterThan(0);
});

test("on a running clock, no read of an advance shows an instant whose due work has not run", async () => {
  const syncs = holdSyncs();
  const directory = temporaryDirectory();
  const host = new TestHost(START);
  const finish = async <T>(work: Promise<T>): Promise<T> => {
    let isDone = false;
    const done = work.finally(() => {
      isDone = true;
    });
    for (; !isDone; await nextTurn()) syncs.end();
    return done;
  };
  const world = await finish(createFuzzedWorld(directory.path, host.clock));
  await finish(listActivities(world, START + 10 * MINUTE));
  await finish(send(world, "PUT", "/_sim/clock", { mode: "scaled", factor: 60 }));
  const { project } = world.names;
  const renamed = send(world, "PATCH", `/api/v2/projects/${project}`, { project: { name: "new" } });
  while (syncs.held === 0) await nextTurn();
  const advancing = send(world, "POST", "/_sim/clock/advance", { by: "320h" });
  await turns(3);
  // An hour passes while the disk is busy, and activities are due in it.
  host.passes(MINUTE);
  syncs.end();
  await turns(4);
  const { date, endpoint } = await readEndpoint(world);
  await finish(Promise.all([renamed, advancing]));
  await finish(world.close());
  directory.remove();
  expect(endpoint.last_active).toBeUndefined();
  expect(date).toBeLessThan(START + 10 * MINUTE);
});

/** One every 20 minutes. */
function listActivities(world: FuzzedWorld, from: number): Promise<Response> {
  const activities = Array.from({ length: ACTIVITIES }, (_, index) => ({
    endpoint_id: world.names.endpoint,
    at: new Date(from + index * 20 * MINUTE).toISOString(),
    duration_ms: 1_000,
  }));
  return send(world, "POST", "/_sim/activity", activities);
}

async function readEndpoint(world: FuzzedWorld) {
  const { project, endpoint } = world.names;
  const response = await send(world, "GET", `/api/v2/projects/${project}/endpoints/${endpoint}`);
  const body = (await response.json()) as { endpoint: { updated_at: string; last_active?: string } };
  return { ...body, date: Date.parse(response.headers.get("date") ?? "") };
}

async function send(world: FuzzedWorld, method: string, where: string, body?: object): Promise<Response> {
  return world.app.request(`http://localhost${where}`, {
    method,
    headers: HEADERS,
    ...(body && { body: JSON.stringify(body) }),
  });
}

async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await nextTurn();
}

function isDatabase(name: string): boolean {
  return /\.(db|world|sqlite)$/.test(name);
}
