import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import {
  createProjectOn,
  journalOf,
  type ServerClient,
  startServer,
  testDirectory,
} from "../../support/server/running-server.ts";

/** The time of the clock, and the wall-clock times before and after reading it. */
async function read(client: ServerClient) {
  const from = Date.now();
  const { body } = await client.sim("GET", "/clock");
  return {
    from,
    to: Date.now(),
    now: Date.parse(body.now),
    mode: body.mode as string,
    factor: body.factor as number,
  };
}

/** Waits until this wall-clock time, so that results do not depend on how long the steps take. */
async function wallReaches(at: number): Promise<void> {
  while (Date.now() < at) await sleep(10);
}

test.each(["SIGTERM", "SIGKILL"] as const)("a manual clock keeps its time after %s", async (signal) => {
  const data = testDirectory();
  const server = await startServer(data, ["--clock", "manual", "--start-at", "2026-01-01T00:00:00Z"]);
  await server.sim("POST", "/clock/advance", { by: "36h" });
  await server.kill(signal);
  const restarted = await startServer(data);
  expect((await restarted.sim("GET", "/clock")).body).toEqual({
    now: "2026-01-02T12:00:00.000Z",
    mode: "manual",
    factor: 0,
    next_due: null,
  });
});

test.each([
  ["real", 1],
  ["60x", 60],
] as const)("a %s clock runs by itself, also over a restart", async (clock, factor) => {
  const data = testDirectory();
  const server = await startServer(data, ["--clock", clock, "--start-at", "2026-01-01T00:00:00Z"]);
  const first = await read(server);
  expect(first.now).toBeGreaterThanOrEqual(Date.parse("2026-01-01T00:00:00Z"));
  await server.sim("POST", "/clock/advance", { by: "10d" });
  const advanced = await read(server);
  await server.kill("SIGKILL");
  const restarted = await startServer(data);
  const later = await read(restarted);
  expect(later).toMatchObject({ mode: clock === "real" ? "real" : "scaled", factor });
  const bounds = (before: typeof first, jump: number) => {
    expect(later.now - before.now).toBeGreaterThanOrEqual((later.from - before.to) * factor + jump - factor);
    expect(later.now - before.now).toBeLessThanOrEqual((later.to - before.from) * factor + jump + factor);
  };
  bounds(advanced, 0);
  // The advance began at some time in between.
  expect(later.now - first.now).toBeGreaterThanOrEqual(10 * 86_400_000);
});

test("a clock with a new mode at a later start continues from its last time", async () => {
  const data = testDirectory();
  const first = await startServer(data, ["--clock", "manual", "--start-at", "2026-01-01T00:00:00Z"]);
  await first.sim("POST", "/clock/advance", { by: "1h" });
  await first.kill("SIGTERM");
  const second = await startServer(data, ["--clock", "100x"]);
  const running = await read(second);
  expect(running).toMatchObject({ mode: "scaled", factor: 100 });
  expect(running.now).toBeGreaterThanOrEqual(Date.parse("2026-01-01T01:00:00Z"));
  await second.sim("PUT", "/clock", { mode: "manual" });
  const stopped = await read(second);
  expect(stopped.now).toBeGreaterThanOrEqual(running.now);
  await second.kill("SIGKILL");
  const third = await startServer(data);
  expect(await read(third)).toMatchObject({ now: stopped.now, mode: "manual" });
});

test("on the real clock, work that became due while the process was down happens at its due time", async () => {
  const data = testDirectory();
  const server = await startServer(data, ["--clock", "real", "--start-delay", "200ms"]);
  const { body } = await server.api("POST", "/projects", { project: {} });
  const dueBy = Date.now() + 1_500;
  expect(body.endpoints[0].current_state).toBe("init");
  await server.kill("SIGKILL");
  await wallReaches(dueBy);

  const restarted = await startServer(data, [], { key: server.ready.api_key as string });
  const path = `/projects/${body.project.id}/endpoints/${body.endpoints[0].id}`;
  expect((await restarted.api("GET", path)).body.endpoint.current_state).toBe("active");
  const events = await journalOf(restarted);
  const [timeline, compute] = events
    .filter(({ type }) => type === "OperationScheduled")
    .map(({ operation }) => operation);
  const [first, second] = events.filter(({ type }) => type === "OperationFinished");
  expect(first).toMatchObject({ operation_id: timeline?.id, at: timeline?.state.due_at });
  const started = events.find(
    ({ type, operation_id }) => type === "OperationStarted" && operation_id === compute?.id,
  );
  expect(started?.at).toBe(first?.at);
  expect(second).toMatchObject({ operation_id: compute?.id, at: started?.due_at });
  expect(Date.parse(second?.at ?? "") - Date.parse(first?.at ?? "")).toBe(200);
  // The compute suspended while the server was down, so the event is in the past.
  expect(Date.parse(second?.at ?? "")).toBeLessThan((await read(restarted)).now);
});

test("on a fast clock, a compute that suspended while the process was down did so exactly at its delay", async () => {
  const data = testDirectory();
  const server = await startServer(data, ["--clock", "manual"]);
  const { endpointId } = await createProjectOn(server);
  await server.sim("POST", "/activity", { endpoint_id: endpointId, duration_ms: 1500 });
  await server.sim("PUT", "/clock", { mode: "scaled", factor: 1000 });
  const downAt = Date.now();
  await server.kill("SIGKILL");
  await wallReaches(downAt + 400);

  const restarted = await startServer(data);
  const events = await journalOf(restarted);
  const activity = events.find(({ type }) => type === "ActivityRecorded");
  const suspended = events.find(({ type }) => type === "ComputeSuspended");
  expect(Date.parse(suspended?.at ?? "") - Date.parse(activity?.at ?? "")).toBe(301_500);
  expect((await restarted.sim("GET", "/invariants")).body).toMatchObject({ ok: true });
});
