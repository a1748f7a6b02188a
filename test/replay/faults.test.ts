import { describe, expect, onTestFinished, test } from "vitest";
import { renderState } from "../../src/control-api/routes/state.ts";
import type { World } from "../../src/platform/world/world.ts";
import { createProject, type Double } from "../support/double/double.ts";
import {
  createStorageDouble,
  STORAGE_KINDS,
  type StorageDouble,
  type StorageKind,
} from "../support/double/storage-double.ts";

const FAULTS = [
  {
    name: "half",
    on: { operation: "listProjects" },
    when: { probability: 0.5 },
    effect: { answer: { status: 503 } },
  },
  { name: "third", on: { operation: "getProject" }, when: { every: 3 }, effect: { answer: { status: 500 } } },
  { name: "limited", on: { operation: "listApiKeys" }, effect: { rate_limit: { requests: 2, per: "1m" } } },
  { name: "slow", when: { probability: 0.5 }, effect: { start_slower: { by: "1s..20s" } } },
  {
    name: "flaky",
    on: { action: "*" },
    when: { probability: 0.5 },
    effect: { operation_fails: { times: 2 } },
  },
];

async function shelved(kind: StorageKind): Promise<StorageDouble> {
  const made = await createStorageDouble(kind);
  onTestFinished(made.end);
  await createProject(made.double());
  await made.double().sim("PUT", "/faults", FAULTS);
  return made;
}

/** The effects of a world's faults on the next calls, which its history determines. */
async function strike(double: Double): Promise<unknown[]> {
  const found: unknown[] = [];
  const [{ id }] = (await double.sim("GET", "/state")).body.projects;
  const [endpoint] = (await double.sim("GET", "/endpoints")).body.endpoints;
  for (let time = 0; time < 6; time += 1) {
    for (const path of ["/projects", `/projects/${id}`, "/api_keys"])
      found.push((await double.api("GET", path)).status);
    const started = await double.api("POST", `/projects/${id}/endpoints/${endpoint.endpoint_id}/restart`);
    await double.advance("2m");
    const { operations } = (await double.api("GET", `/projects/${id}/operations?limit=2`)).body;
    found.push(started.status, ...operations.map((one) => [one.failures_count, one.total_duration_ms]));
  }
  return found;
}

/** The expected result without a restart, computed in a second world. */
async function undisturbed(kind: StorageKind): Promise<unknown[][]> {
  const { double } = await shelved(kind);
  return [await strike(double()), await strike(double())];
}

describe.each(STORAGE_KINDS)("%s", (kind) => {
  test("faults continue after a restart as without one", async () => {
    const [first, second] = await undisturbed(kind);
    const made = await shelved(kind);
    expect(await strike(made.double())).toEqual(first);
    await made.reopen();
    expect(await strike(made.double())).toEqual(second);
    expect(second).not.toEqual(first);
  });

  test("faults of a restored world trigger in the same way again", async () => {
    const made = await shelved(kind);
    const double = made.double();
    await strike(double);
    await double.sim("POST", "/snapshots", { name: "before" });
    const counts = (await double.sim("GET", "/faults")).body;
    const once = await strike(double);
    expect((await double.sim("GET", "/faults")).body).not.toEqual(counts);
    expect((await double.sim("POST", "/snapshots/before/restore", {})).status).toBe(200);
    expect((await double.sim("GET", "/faults")).body).toEqual(counts);
    expect(await strike(double)).toEqual(once);
  });

  test("a fork at a past point has its faults and counters of that point", async () => {
    const made = await shelved(kind);
    const double = made.double();
    const { seq } = (await double.sim("GET", "/state")).body;
    const counts = (await double.sim("GET", "/faults")).body;
    const first = await strike(double);
    await double.sim("PUT", "/faults", []);
    await double.sim("POST", "/worlds", { name: "past", at: seq });
    const past = made.world("past");
    expect((await past.sim("GET", "/faults")).body).toEqual(counts);
    expect(await strike(past)).toEqual(first);
    expect(await made.verify("default", "past")).toEqual(
      kind === "in files"
        ? [expect.objectContaining({ ok: true }), expect.objectContaining({ ok: true })]
        : [],
    );
  });

  test("history records which faults were set, matched and triggered", async () => {
    const made = await shelved(kind);
    const double = made.double();
    await strike(double);
    const { value } = (await double.world.viewAt({
      seq: (await double.sim("GET", "/state")).body.seq,
    })) as { value: { world: World } };
    const state = JSON.parse(JSON.stringify(renderState(value.world)));
    expect((await double.sim("GET", "/state")).body).toEqual(state);
    expect(state.faults).toHaveLength(FAULTS.length);
    for (const { name, seen, hits } of state.faults) {
      const events = (await double.sim("GET", "/events?limit=10000")).body.events.filter(
        (event) => event.fault === name,
      );
      expect(events.filter(({ type }) => type === "FaultHit")).toHaveLength(hits);
      expect(events).toHaveLength(seen);
    }
  });
});
