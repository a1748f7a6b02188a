import { expect, test } from "vitest";
import type { EndpointPath } from "../../support/double/compute.ts";
import { createBranch, recordActivity, suspendCompute, updateCompute } from "../../support/double/compute.ts";
import { createProject, type Double } from "../../support/double/double.ts";
import { explain, explanationLines } from "../../support/double/explanation.ts";
import { createTestDouble } from "../../support/double/history-requests.ts";
import { STORAGE_KINDS } from "../../support/double/storage-double.ts";

/** Creates every case that can be explained; returns the ids of all objects that ever existed. */
async function live(double: Double): Promise<string[]> {
  const { projectId, endpointId, path } = await createProject(double);
  await recordActivity(double, endpointId, { duration_ms: 2_000, source: "checkout" });
  await double.advance("10m");
  await recordActivity(double, endpointId, { source: "nightly" });
  await double.advance("10s");
  await double.api("POST", `${path}/restart`);
  await double.advance("10s");
  await updateCompute(double, path, { autoscaling_limit_max_cu: 2, suspend_timeout_seconds: 120 });
  await recordActivity(double, endpointId, { kind: "transaction", connection_id: "job" });
  const { branchId, paths } = await createBranch(double, projectId, [
    { type: "read_write" },
    { type: "read_only" },
  ]);
  await suspendCompute(double, paths[0] ?? "");
  await double.api("POST", `${paths[1]}/restart`);
  await double.api("DELETE", paths[1] ?? "");
  await double.api("DELETE", `/projects/${projectId}/branches/${branchId}`);
  await double.advance("10s");
  await recordActivity(double, endpointId, { kind: "disconnect", connection_id: "job" });
  await double.advance("10m");
  const { events } = (await double.sim("GET", "/events?limit=10000")).body;
  return events.flatMap(({ compute, operation }) =>
    [compute?.id, operation?.id].filter((id) => id !== undefined),
  );
}

test("explanations from a file equal those from memory at every point of history", async () => {
  const [inMemory, inFiles] = [
    (await createTestDouble("in memory")).double(),
    (await createTestDouble("in files")).double(),
  ];
  const ids = await live(inMemory);
  expect(await live(inFiles)).toEqual(ids);
  const { seq } = (await inMemory.sim("GET", "/state")).body;
  const explanationAt = async (double: Double, id: string, at: number) => {
    const { status, body } = await explain(double, id, at);
    const { request_id, ...rest } = body;
    return { ...rest, asked: { id, at, status } };
  };
  let explained = 0;
  for (let at = 1; at <= seq; at += 3) {
    for (const id of ids) {
      const expected = await explanationAt(inMemory, id, at);
      expect(await explanationAt(inFiles, id, at)).toEqual(expected);
      if (expected.asked.status === 200) explained += 1;
    }
  }
  expect(explained).toBeGreaterThan(100);
});

test.each(STORAGE_KINDS)(
  "%s: every statement is proven by events of the journal, at every point of history",
  async (kind) => {
    const double = (await createTestDouble(kind)).double();
    const ids = await live(double);
    const { seq } = (await double.sim("GET", "/state")).body;
    for (let at = 1; at <= seq; at += 5) {
      for (const id of ids) {
        if ((await explain(double, id, at)).status !== 200) continue;
        for (const line of await explanationLines(double, id, at)) {
          if (!line.startsWith("changes: changes are accepted")) expect(line).toMatch(/ \[\w+(, \w+)*\]$/);
        }
      }
    }
  },
);

/** Sentences without proof. Only events record what suspended and what started a compute. */
const texts = (lines: readonly string[]) =>
  lines
    .filter((line) => !line.startsWith("wake: "))
    .map((line) => line.replace(/ \[.*\]$/, "").replace(/(has been idle since \S+Z).*/, "$1"));

/** Computes whose reasons are in truncated history, and the calls that lead there. */
const STATES: Readonly<
  Record<string, (double: Double, endpointId: string, path: EndpointPath) => Promise<unknown>>
> = {
  "active, never used": async () => undefined,
  "active, used": (double, endpointId) => recordActivity(double, endpointId, { duration_ms: 60_000 }),
  "active, in a transaction": (double, endpointId) =>
    recordActivity(double, endpointId, { kind: "transaction", connection_id: "job" }),
  "active for ever": (double, _, path) => updateCompute(double, path, { suspend_timeout_seconds: -1 }),
  "idle by autosuspend": (double) => double.advance("1h"),
  "idle by request": (double, _, path) => suspendCompute(double, path),
  "being restarted": (double, _, path) => double.api("POST", `${path}/restart`),
  "being woken": async (double, endpointId, path) => {
    await suspendCompute(double, path);
    await recordActivity(double, endpointId);
  },
};

test.each(Object.keys(STATES))(
  "the explanation of a compute that is %s survives truncation, without proof",
  async (state) => {
    for (const kind of STORAGE_KINDS) {
      const double = (await createTestDouble(kind)).double();
      const { endpointId, path } = await createProject(double);
      await STATES[state]?.(double, endpointId, path);
      const before = texts(await explanationLines(double, endpointId));
      expect((await double.sim("POST", "/compact", { keep: "0s" })).status).toBe(200);
      const after = await explanationLines(double, endpointId);
      expect(after.every((line) => line.endsWith(" []"))).toBe(true);
      // Only events record what started it.
      expect(texts(after)).toEqual(before.filter((line) => !line.startsWith("wake: ")));
    }
  },
);

test.each(STORAGE_KINDS)(
  "%s: an unfinished operation is explained after the event that scheduled it was truncated",
  async (kind) => {
    const double = (await createTestDouble(kind)).double();
    const { path } = await createProject(double);
    const { body } = await double.api("POST", `${path}/restart`);
    await double.sim("POST", "/compact", { keep: "0s" });
    for (const { id, status } of body.operations) {
      const explained = await explain(double, id);
      expect([explained.status, explained.body.status]).toEqual([200, status]);
    }
  },
);

test.each(STORAGE_KINDS)(
  "%s: an operation that the API still lists is explained even if history is shorter",
  async (kind) => {
    const retention = { history: 60_000, minimumEvents: 0, eventsPerCheckpoint: 10 };
    const double = (await createTestDouble(kind, { retention })).double();
    const { projectId, created, endpointId } = await createProject(double);
    const forgotten = async () => (await double.sim("GET", "/health")).body.history.forgotten_seq;
    for (let hour = 0; hour < 100 && (await forgotten()) <= 13; hour += 1) {
      await recordActivity(double, endpointId);
      await double.advance("1h");
    }
    const { id } = created.operations[1];
    expect(await forgotten()).toBeGreaterThan(13);
    expect((await double.api("GET", `/projects/${projectId}/operations/${id}`)).body.operation.status).toBe(
      "finished",
    );
    const { status, body } = await explain(double, id);
    expect([status, body.status]).toEqual([200, "finished"]);
  },
);

test.each(STORAGE_KINDS)("%s: an instant in truncated history cannot be explained", async (kind) => {
  const double = (await createTestDouble(kind)).double();
  const { endpointId } = await createProject(double);
  await double.advance("1h");
  await double.sim("POST", "/compact", { keep: "1m" });
  const { status, body } = await explain(double, endpointId, "2026-01-01T00:00:04Z");
  expect([status, body.code]).toEqual([422, "HISTORY_FORGOTTEN"]);
  expect((await explain(double, endpointId, "2026-01-01T01:00:00Z")).status).toBe(200);
});
