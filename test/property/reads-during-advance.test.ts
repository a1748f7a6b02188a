import fs from "node:fs";
import path from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import fc from "fast-check";
import type { Hono } from "hono";
import { expect, test } from "vitest";
import { HOUR, MINUTE } from "../../src/kernel/time.ts";
import { API_KEY, START } from "../support/double/double.ts";
import { TestHost } from "../support/double/test-host.ts";
import { temporaryDirectory } from "../support/process/process.ts";
import { expectHolds } from "../support/properties/properties.ts";
import { createFuzzedWorld, FuzzedApp } from "../support/requests/fuzzed-world.ts";
import { holdSyncs } from "../support/store/held-syncs.ts";

const PROJECTS = 4;
/** Of one request. */
const MAX_ACTIVITIES = 1_000;
/** More than any answer takes that waits for nothing. */
const TURNS = 30;
const HEADERS = {
  Authorization: `Bearer ${API_KEY}`,
  "Content-Type": "application/json",
  "X-Request-ID": "same",
};

type HeldSyncs = ReturnType<typeof holdSyncs>;

const activity = fc.record({
  project: fc.nat({ max: PROJECTS - 1 }),
  atMs: fc.nat({ max: 150 * HOUR }),
  durationMs: fc.nat({ max: 2 * MINUTE }),
});
const advanced = fc.record({
  activities: fc.array(activity, { minLength: 1_600, maxLength: 1_900, size: "max" }),
  /** After how many turns the world is read again. */
  gaps: fc.array(fc.nat({ max: 8 }), { minLength: 4, maxLength: 12, size: "max" }),
  expires: fc.boolean(),
});

test("a read during an advance shows the last durable commit and waits for nothing", async () => {
  const syncs = holdSyncs();
  let compared = 0;
  let commits = 0;
  await expectHolds(
    fc.asyncProperty(advanced, async ({ activities, gaps, expires }) => {
      const directory = temporaryDirectory();
      const copies = temporaryDirectory();
      const world = await finish(syncs, createFuzzedWorld(directory.path, new TestHost(START).clock));
      try {
        const reads = await finish(syncs, prepare(world.app, activities, expires));
        let durable: (readonly string[] | undefined)[] = [
          await answersOfCopy(syncs, directory.path, path.join(copies.path, "start"), reads),
        ];
        const advancing = post(world.app, "/_sim/clock/advance", { by: "170h" });
        let isDone = false;
        void advancing.finally(() => {
          isDone = true;
        });
        for (let round = 0; !isDone; round += 1) {
          for (let turn = 0; turn < (gaps[round % gaps.length] ?? 0); turn += 1) await nextTurn();
          if (!isDone) {
            const answers = await answersAtOnce(world.app, reads);
            // On a slow machine, work that is idle for long may end a commit with a sync of its own.
            const isLater =
              instantIn(answers[0]) > instantIn(durable.findLast((commit) => commit !== undefined)?.[0]);
            if (!isDone && !isLater) {
              // A commit that only writes the request log may come between those of the advance.
              const shown = durable.findLastIndex((commit) => commit?.[0] === answers[0]);
              // One that ends amid the work of an instant cannot be compared.
              if (shown !== -1 || !durable.includes(undefined)) {
                expect(answers).toEqual(durable[Math.max(0, shown)]);
                durable = durable.slice(Math.max(0, shown));
                expect(durable.filter((commit) => commit !== undefined).length).toBeLessThan(3);
                compared += answers.length;
              }
            }
          }
          if (syncs.held === 0) continue;
          // The commit is in the file, and durable when its sync has ended.
          const copy = path.join(copies.path, String(round));
          const written = await answersOfCopy(syncs, directory.path, copy, reads);
          syncs.end();
          await nextTurn();
          durable.push(written);
          commits += 1;
        }
        await finish(syncs, advancing);
      } finally {
        await finish(syncs, world.close());
        for (const one of [directory, copies]) one.remove();
      }
    }),
    6,
  );
  expect(compared).toBeGreaterThan(100);
  expect(commits).toBeGreaterThan(5);
});

/** Creates projects and what will happen in them. Returns what is read. */
async function prepare(
  app: Hono,
  activities: readonly { project: number; atMs: number; durationMs: number }[],
  expires: boolean,
): Promise<readonly string[]> {
  const paths = ["/projects", "/projects?limit=2"];
  const endpoints: string[] = [];
  for (let count = 0; count < PROJECTS; count += 1) {
    const { project, endpoints: created } = (await (
      await post(app, "/api/v2/projects", { project: { name: `project ${count}` } })
    ).json()) as { project: { id: string }; endpoints: [{ id: string }] };
    endpoints.push(created[0].id);
    const expiry = expires ? { expires_at: new Date(START + (count + 2) * HOUR).toISOString() } : {};
    await post(app, "/_sim/clock/advance", { by: "1m" });
    await post(app, `/api/v2/projects/${project.id}/branches`, { branch: { name: "short", ...expiry } });
    await post(app, "/_sim/clock/advance", { by: "1m" });
    for (const list of ["endpoints", "branches", `endpoints/${created[0].id}`])
      paths.push(`/projects/${project.id}/${list}`);
  }
  const from = START + HOUR;
  const listed = activities.map(({ project, atMs, durationMs }) => ({
    endpoint_id: endpoints[project],
    at: new Date(from + atMs).toISOString(),
    duration_ms: durationMs,
  }));
  for (let first = 0; first < listed.length; first += MAX_ACTIVITIES)
    await post(app, "/_sim/activity", listed.slice(first, first + MAX_ACTIVITIES));
  return paths;
}

/** The instant in the `Date` header; `NaN` for an answer that waits. */
function instantIn(answer: string | undefined): number {
  return Date.parse(/^\d+ (.*? GMT)/.exec(answer ?? "")?.[1] ?? "");
}

/** `undefined` if something is due in the copy, which happens as soon as it is opened. */
async function answersOfCopy(
  syncs: HeldSyncs,
  from: string,
  to: string,
  reads: readonly string[],
): Promise<readonly string[] | undefined> {
  fs.cpSync(from, to, { recursive: true, filter: (name) => !/\.lock$|-shm$/.test(name) });
  const answer = async () => {
    const server = new FuzzedApp();
    const { close } = await server.open(to, { hostClock: new TestHost(START).clock });
    const answers = await Promise.all(answersOf(server.app, reads));
    await close();
    return answers;
  };
  let isUnchanged = true;
  const answers = await finish(syncs, answer(), syncs.held, () => {
    isUnchanged = false;
  });
  return isUnchanged ? answers : undefined;
}

/** `undefined` for an answer that waits. */
async function answersAtOnce(app: Hono, reads: readonly string[]): Promise<readonly (string | undefined)[]> {
  const answers: (string | undefined)[] = reads.map(() => undefined);
  const all = answersOf(app, reads).map(async (answer, index) => {
    answers[index] = await answer;
  });
  let isDone = false;
  void Promise.all(all).then(() => {
    isDone = true;
  });
  for (let turn = 0; turn < TURNS && !isDone; turn += 1) await nextTurn();
  return [...answers];
}

function answersOf(app: Hono, reads: readonly string[]): Promise<string>[] {
  return reads.map(async (read) => {
    const response = await app.request(`http://localhost/api/v2${read}`, { headers: HEADERS });
    return `${response.status} ${response.headers.get("date")} ${await response.text()}`;
  });
}

async function post(app: Hono, where: string, body: object): Promise<Response> {
  return app.request(`http://localhost${where}`, {
    method: "POST",
    headers: HEADERS,
    body: JSON.stringify(body),
  });
}

/** Ends syncs until the work is done, except for the first ones. */
async function finish<T>(
  syncs: HeldSyncs,
  work: Promise<T>,
  except = 0,
  onSync: () => void = () => undefined,
): Promise<T> {
  let isDone = false;
  const done = work.finally(() => {
    isDone = true;
  });
  while (!isDone) {
    while (syncs.held > except) {
      onSync();
      syncs.endLast();
    }
    await nextTurn();
  }
  return done;
}
