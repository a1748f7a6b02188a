import { setImmediate as nextTurn } from "node:timers/promises";
import fc from "fast-check";
import { expect, test } from "vitest";
import { API_KEY, START } from "../support/double/double.ts";
import { TestHost } from "../support/double/test-host.ts";
import { temporaryDirectory } from "../support/process/process.ts";
import { expectHolds } from "../support/properties/properties.ts";
import {
  createFuzzedWorld,
  FREE_KEY,
  type FuzzedWorld,
  type ResourceNames,
} from "../support/requests/fuzzed-world.ts";
import { likelyRequest, requestOf } from "../support/requests/random-requests.ts";
import { PUBLIC_ROUTES, ROUTES } from "../support/requests/routes.ts";
import { holdSyncs } from "../support/store/held-syncs.ts";

const READ_PATHS = PUBLIC_ROUTES.filter(([method]) => method === "GET").map(([, path]) => path);
/** More than any answer takes that waits for nothing. */
const TURNS = 30;

/** Any read. */
const USES_KEY = "/api/v2/users/me";

const read = fc.record({
  path: fc.constantFrom(...READ_PATHS),
  ofOther: fc.boolean(),
  key: fc.constantFrom(API_KEY, FREE_KEY),
});
type Read = { readonly path: string; readonly ofOther: boolean; readonly key: string };
const GOOD_HEADERS = { Authorization: `Bearer ${API_KEY}`, "Content-Type": "application/json" };
/** Most random bodies are refused, and a refusal leaves nothing to be synced. */
const validWrite = fc
  .constantFrom(...ROUTES.filter(([method, path]) => method !== "GET" && path.startsWith("/api/v2")))
  .map(([method, path, body]) => ({
    ...{ method, path, query: "", headers: GOOD_HEADERS },
    body: body === undefined ? undefined : JSON.stringify(body),
  }));
const write = fc.oneof({ weight: 4, arbitrary: validWrite }, { weight: 1, arbitrary: likelyRequest });
const step = fc.record({
  writes: fc.array(write, { minLength: 1, maxLength: 4, size: "max" }),
  reads: fc.array(read, { minLength: 8, maxLength: 16, size: "max" }),
});

test("a read that does not wait for changes that are not durable does not show them", async () => {
  const syncs = holdSyncs();
  const counted = { early: 0, late: 0 };
  await expectHolds(
    fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 30, size: "max" }), async (steps) => {
      const directory = temporaryDirectory();
      const world = await finish(syncs, createFuzzedWorld(directory.path, new TestHost(START).clock));
      try {
        const other = await finish(syncs, createOther(world));
        for (const { writes, reads } of steps) {
          const answers = reads.map((one) => () => answerOf(world, one, one.ofOther ? other : world.names));
          // The use of a key is shown to the next read, and need not be durable.
          for (const key of [API_KEY, FREE_KEY])
            await finish(syncs, answerOf(world, { path: USES_KEY, key, ofOther: false }, world.names));
          const before = await finish(syncs, Promise.all(answers.map((answer) => answer())));
          const written = writes.map((write) => sent(world, write));
          await turns();
          const isHeld = syncs.held > 0;
          const early: (string | undefined)[] = reads.map(() => undefined);
          const all = Promise.all(
            answers.map(async (answer, index) => {
              early[index] = await answer();
            }),
          );
          await turns();
          if (isHeld && syncs.held > 0)
            for (const [index, text] of early.entries()) {
              if (text !== undefined) expect(text, JSON.stringify(reads[index])).toBe(before[index]);
              counted[text === undefined ? "late" : "early"] += 1;
            }
          await finish(syncs, Promise.all([all, ...written]));
          // So that the next writes are not refused because of the operations of these.
          await finish(syncs, post(world, "/_sim/clock/advance", { by: "10s" }));
        }
      } finally {
        await finish(syncs, world.close());
        directory.remove();
      }
    }),
    60,
  );
  // Both happened, or nothing was tested.
  expect(counted.early).toBeGreaterThan(100);
  expect(counted.late).toBeGreaterThan(100);
});

async function turns(): Promise<void> {
  for (let turn = 0; turn < TURNS; turn += 1) await nextTurn();
}

/** Ends syncs until the work is done. */
async function finish<T>(syncs: ReturnType<typeof holdSyncs>, work: Promise<T>): Promise<T> {
  let isDone = false;
  const done = work.finally(() => {
    isDone = true;
  });
  while (!isDone) {
    syncs.end();
    await nextTurn();
  }
  return done;
}

async function sent(world: FuzzedWorld, write: Parameters<typeof requestOf>[0]): Promise<void> {
  // Whoever waits for an event may wait for ever.
  if (write.path.includes("/wait") || write.path.includes("/stream")) return;
  // A change of the clock is durable at once, so the reads after it show it.
  if (write.path.includes("/clock")) return;
  const request = requestOf(write, world.names, new AbortController().signal);
  if (request !== undefined) await (await world.app.fetch(request)).text();
}

async function answerOf({ app }: FuzzedWorld, { path, key }: Read, names: ResourceNames): Promise<string> {
  const request = requestOf(
    {
      method: "GET",
      path,
      query: "",
      headers: { Authorization: `Bearer ${key}`, "X-Request-ID": "same" },
      body: undefined,
    },
    names,
    new AbortController().signal,
  );
  if (request === undefined) throw new Error(`${path} cannot be sent`);
  const response = await app.fetch(request);
  return `${response.status} ${await response.text()}`;
}

/** A project that the random writes do not name. */
async function createOther(world: FuzzedWorld): Promise<ResourceNames> {
  const response = await post(world, "/api/v2/projects", { project: { name: "other" } });
  const created = (await response.json()) as {
    project: { id: string };
    branch: { id: string };
    endpoints: [{ id: string }];
    operations: [{ id: string }];
  };
  return {
    ...world.names,
    project: created.project.id,
    branch: created.branch.id,
    endpoint: created.endpoints[0].id,
    operation: created.operations[0].id,
  };
}

async function post({ app }: FuzzedWorld, path: string, body: object): Promise<Response> {
  return app.request(`http://localhost${path}`, {
    method: "POST",
    headers: GOOD_HEADERS,
    body: JSON.stringify(body),
  });
}
