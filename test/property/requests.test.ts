import { setTimeout } from "node:timers/promises";
import fc from "fast-check";
import { expect, test, vi } from "vitest";
import { MIGRATIONS_FOLDER } from "../../src/app/package-root.ts";
import { renderState } from "../../src/control-api/routes/state.ts";
import { replay } from "../../src/simulation/replay.ts";
import { openStore } from "../../src/store/file/open-world.ts";
import { createDouble, START } from "../support/double/double.ts";
import { TestHost } from "../support/double/test-host.ts";
import { temporaryDirectory } from "../support/process/process.ts";
import { expectHolds } from "../support/properties/properties.ts";
import { createFuzzedWorld, type FuzzedWorld } from "../support/requests/fuzzed-world.ts";
import {
  likelyRequest,
  type RandomRequest,
  randomRequest,
  requestOf,
} from "../support/requests/random-requests.ts";

/** How long a request may wait for a world whose clock is stopped. */
const PATIENCE_MS = 20;

/** The same requests must find the same world in every clock mode. */
const frozenHost = () => new TestHost(START).clock;

test("no request breaks the double: errors are as documented, and rejected requests change nothing", async () => {
  await expectHolds(
    fc.asyncProperty(
      fc.array(randomRequest, { minLength: 1, maxLength: 40, size: "max" }),
      async (requests) => {
        const directory = temporaryDirectory();
        const underFire = await createFuzzedWorld(directory.path, frozenHost());
        try {
          for (const request of requests) await expectSaneResponse(underFire, request);
          const invariants = await underFire.app.request("http://localhost/_sim/invariants");
          expect(await invariants.json()).toMatchObject({ ok: true });
        } finally {
          await underFire.close();
          directory.remove();
        }
      },
    ),
    120,
  );
});

test("every accepted value, however unusual, is found again in the world's file", async () => {
  await expectHolds(
    fc.asyncProperty(
      fc.array(likelyRequest, { minLength: 1, maxLength: 40, size: "max" }),
      async (requests) => {
        const directory = temporaryDirectory();
        const underFire = await createFuzzedWorld(directory.path, frozenHost());
        try {
          for (const request of requests) await expectSaneResponse(underFire, request);
          const state = JSON.parse(await underFire.state());
          await underFire.close();
          const stored = openStore(`${directory.path}/worlds/default.sqlite`, {
            migrationsFolder: MIGRATIONS_FOLDER,
          });
          const folded = replay(stored.journal.events(0, Number.MAX_SAFE_INTEGER));
          stored.close();
          expect(JSON.parse(JSON.stringify(renderState(stored.world)))).toEqual(state);
          expect(JSON.parse(JSON.stringify(renderState(folded)))).toEqual(state);
        } finally {
          await underFire.close();
          directory.remove();
        }
      },
    ),
    60,
  );
});

test("a HEAD request for the event stream leaves no listener", async () => {
  const double = await createDouble();
  const subscribe = double.world.subscribe.bind(double.world);
  let listening = 0;
  vi.spyOn(double.world, "subscribe").mockImplementation((listener) => {
    const unsubscribe = subscribe(listener);
    listening += 1;
    return () => {
      listening -= 1;
      unsubscribe();
    };
  });
  for (const method of ["GET", "HEAD"]) {
    const response = await double.fetch(new Request("http://localhost/_sim/events/stream", { method }));
    await setTimeout(PATIENCE_MS);
    await response.body?.cancel();
    await setTimeout(PATIENCE_MS);
    expect(listening, method).toBe(0);
  }
  await double.close();
});

async function expectSaneResponse(underFire: FuzzedWorld, random: RandomRequest): Promise<void> {
  const { app, bugs, names } = underFire;
  const patience = new AbortController();
  const request = requestOf(random, names, patience.signal);
  if (request === undefined) return;
  const before = await underFire.state();
  const timer = request.url.includes("/wait")
    ? globalThis.setTimeout(() => patience.abort(), PATIENCE_MS)
    : undefined;
  const response = await app.fetch(request);
  clearTimeout(timer);
  const { status } = response;
  const isStream = response.headers.get("content-type")?.startsWith("text/event-stream") ?? false;
  const text = isStream ? "" : await response.text();
  await (isStream ? response.body?.cancel() : undefined);
  expect(bugs, `${status} ${text}`).toEqual([]);
  expect(status < 500 || status === 501, `${status} ${text}`).toBe(true);
  if (status >= 300 && request.method !== "HEAD") {
    const body = JSON.parse(text);
    // The public document has another object for one error: a missing branch of the storage call.
    const isStorage =
      status === 404 && new URL(request.url).pathname.endsWith("/storage") && "reason" in body;
    expect(body).toEqual({
      ...(isStorage ? { reason: "branch_not_found" } : { request_id: expect.any(String) }),
      code: expect.stringMatching(/^[A-Z_]*$/),
      message: expect.stringMatching(/./),
    });
    if (!isStorage) expect(response.headers.get("x-request-id")).toBe(body.request_id);
  }
  if (status >= 400) expect(await underFire.state(), `${status} has changed nothing`).toBe(before);
}
