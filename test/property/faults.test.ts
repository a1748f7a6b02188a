import fc from "fast-check";
import { expect, test } from "vitest";
import { MIGRATIONS_FOLDER } from "../../src/app/package-root.ts";
import { renderState } from "../../src/control-api/routes/state.ts";
import { replay } from "../../src/simulation/replay.ts";
import { openStore } from "../../src/store/file/open-world.ts";
import { createDouble } from "../support/double/double.ts";
import { verify } from "../support/double/storage-double.ts";
import { temporaryDirectory } from "../support/process/process.ts";
import { expectHolds } from "../support/properties/properties.ts";
import { runWalk, walkCommands } from "../support/properties/random-walk.ts";
import { createFuzzedWorld, type FuzzedWorld } from "../support/requests/fuzzed-world.ts";
import { likelyRequest, type RandomRequest, requestOf } from "../support/requests/random-requests.ts";

const ACTIONS = [
  "create_timeline",
  "create_branch",
  "start_compute",
  "suspend_compute",
  "apply_config",
  "delete_timeline",
];
const ASKED_FOR = [418, 423, 429, 500, 502, 503, 504];

const when = fc.oneof(
  fc.constant({}),
  fc.record({ first: fc.integer({ min: 1, max: 5 }) }),
  fc.record({ every: fc.integer({ min: 1, max: 4 }), limit: fc.integer({ min: 1, max: 5 }) }),
  fc.record({ probability: fc.double({ min: 0, max: 1, noNaN: true }) }),
);
const requestFault = fc.record({
  when,
  on: fc.constantFrom(
    {},
    { operation: ["createProject", "createProjectBranch"] },
    { match: { method: "PATCH" } },
    { match: { project_id: "{project}" } },
  ),
  effect: fc.oneof(
    fc.constantFrom(...ASKED_FOR).map((status) => ({ answer: { status } })),
    fc.constantFrom(
      { drop: {} },
      { lose_response: {} },
      { latency: "1s..10m" },
      { latency: { takes: "0ms..2ms", clock: "wall" } },
    ),
  ),
});
const operationFault = fc.record({
  when,
  on: fc.oneof(
    fc.constant({}),
    fc.subarray(ACTIONS, { minLength: 1 }).map((action) => ({ action })),
  ),
  effect: fc.record({
    operation_fails: fc.record({
      times: fc.integer({ min: 1, max: 3 }),
      ends: fc.constantFrom("finished", "failed"),
    }),
  }),
});
const startFault = fc.record({
  when,
  on: fc.constantFrom({}, { match: { endpoint_id: "{endpoint}" } }),
  effect: fc.constantFrom(
    { start_fails: {} },
    { start_slower: { by: "1s..1m" } },
    { start_slower: { factor: 0.1 } },
  ),
});
const timelessFault = fc.record({
  on: fc.constantFrom({}, { match: { project_id: "{project}" } }),
  effect: fc.constantFrom({ rate_limit: { requests: 3, per: "10s" } }, { maintenance: { for: "5m" } }),
});
const faults = fc
  .array(
    fc.oneof(
      { weight: 2, arbitrary: requestFault },
      { weight: 4, arbitrary: operationFault },
      { weight: 2, arbitrary: startFault },
      { weight: 1, arbitrary: timelessFault },
    ),
    { minLength: 1, maxLength: 5 },
  )
  .map((some) => some.map((fault, index) => ({ name: `f${index}`, ...fault })));

test("under any faults all invariants hold, only those failures occur, and the journal has them all", async () => {
  await expectHolds(
    fc.asyncProperty(
      faults,
      fc.array(likelyRequest, { minLength: 1, maxLength: 40, size: "max" }),
      async (set, requests) => {
        const directory = temporaryDirectory();
        const underFire = await createFuzzedWorld(directory.path);
        try {
          await setFaults(underFire, set);
          for (const request of requests) await expectFulfilled(underFire, request);
          const invariants = await underFire.app.request("http://localhost/_sim/invariants");
          expect(await invariants.json()).toMatchObject({ ok: true });
          const state = JSON.parse(await underFire.state());
          await underFire.close();
          const path = `${directory.path}/worlds/default.sqlite`;
          const stored = openStore(path, { migrationsFolder: MIGRATIONS_FOLDER });
          const folded = replay(stored.journal.events(0, Number.MAX_SAFE_INTEGER));
          stored.close();
          expect(JSON.parse(JSON.stringify(renderState(stored.world)))).toEqual(state);
          expect(JSON.parse(JSON.stringify(renderState(folded)))).toEqual(state);
          expect(await verify(path)).toMatchObject({ ok: true, differences: [] });
        } finally {
          await underFire.close();
          directory.remove();
        }
      },
    ),
    60,
  );
});

test("with failing operations and slow starts, answers on a random walk fit the document", async () => {
  const failing = fc.array(fc.oneof(operationFault, operationFault, startFault), {
    minLength: 1,
    maxLength: 3,
  });
  const met = { failed: 0, retried: 0 };
  await expectHolds(
    fc.asyncProperty(failing, walkCommands({ maxSteps: 50 }), async (set, steps) => {
      const double = await createDouble();
      try {
        const named = set.map((fault, index) => ({ name: `f${index}`, ...fault }));
        expect((await double.sim("PUT", "/faults", named)).status).toBe(200);
        await runWalk(steps, { double: () => double });
        const lived = await double.world.transact(({ world }) => renderState(world));
        const events = await double.world.events(0, Number.MAX_SAFE_INTEGER);
        expect(renderState(replay(JSON.parse(JSON.stringify(events))))).toEqual(lived);
        for (const { type } of events) {
          if (type === "OperationFailed") met.failed += 1;
          if (type === "OperationRetried") met.retried += 1;
        }
      } finally {
        await double.close();
      }
    }),
    30,
  );
  // The walk has met the faults that it was made for.
  for (const [what, times] of Object.entries(met)) expect(times, what).toBeGreaterThan(0);
});

async function setFaults({ app, names }: FuzzedWorld, set: readonly object[]): Promise<void> {
  const body = JSON.stringify(set).replaceAll(
    /\{(\w+)\}/g,
    (whole, name) => names[name as keyof typeof names] ?? whole,
  );
  const response = await app.request("http://localhost/_sim/faults", {
    method: "PUT",
    headers: { "Content-Type": "application/json" },
    body,
  });
  expect(response.status, await response.text()).toBe(200);
}

async function expectFulfilled({ app, bugs, names }: FuzzedWorld, random: RandomRequest): Promise<void> {
  // Requests that may wait forever, or that change the clock or the faults, are left out.
  if (/wait|stream|_sim\/clock$|_sim\/faults/.test(random.path)) return;
  const request = requestOf(random, names, new AbortController().signal);
  if (request === undefined) return;
  let response: Response;
  try {
    response = await app.fetch(request);
  } catch (error) {
    expect(error).toBeInstanceOf(TypeError);
    expect((error as Error).cause).toMatchObject({ code: "ECONNRESET" });
    return;
  }
  const text = await response.text();
  expect(bugs, text).toEqual([]);
  if (response.status >= 500 && response.status !== 501) {
    expect(ASKED_FOR).toContain(response.status);
    expect(JSON.parse(text)).toEqual({
      request_id: expect.any(String),
      code: expect.any(String),
      message: expect.any(String),
    });
  }
}
