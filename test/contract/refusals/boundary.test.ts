import { expect, test } from "vitest";
import type { Batch } from "../../../src/simulation/journal.ts";
import { MemoryJournal } from "../../../src/simulation/memory-journal.ts";
import { createScene, send, UNKNOWN_IDS } from "../../support/document/contract-scene.ts";
import { loadPublicDocument } from "../../support/document/public-document.ts";
import { API_KEY, createDouble } from "../../support/double/double.ts";

// Errors of requests that match no operation of the document.

const document = loadPublicDocument();
const AUTHORIZED = { Authorization: `Bearer ${API_KEY}` };
const JSON_BODY = { ...AUTHORIZED, "Content-Type": "application/json" };

/** Every error has the same format. */
function faultsOf(status: number, body: unknown): string[] {
  return document.answerFaults("listProjects", status, body);
}

test.each([
  "/",
  "/nothing",
  "/projects/",
  "/api_keys/",
  `/projects/${UNKNOWN_IDS.project_id}/`,
  `/projects/${UNKNOWN_IDS.project_id}/nothing`,
])("the path %s is unknown", async (path) => {
  const { status, body } = await send(await createDouble(), "GET", path, { headers: AUTHORIZED });
  expect({ status, faults: faultsOf(status, body) }).toEqual({ status: 404, faults: [] });
  expect(body).toMatchObject({ code: "UNKNOWN_PATH", message: expect.stringContaining(path) });
});

test("the error for a path with /api/v2 twice says so", async () => {
  const { status, body } = await send(await createDouble(), "GET", "/api/v2/projects", {
    headers: AUTHORIZED,
  });
  expect({ status, faults: faultsOf(status, body) }).toEqual({ status: 404, faults: [] });
  expect(body.message).toMatch(/contains \/api\/v2 twice/);
});

test("the error for a path without /api/v2 suggests it", async () => {
  const double = await createDouble();
  const response = await double.fetch(new Request("http://localhost/projects", { headers: AUTHORIZED }));
  const body = (await response.json()) as { message: string };
  expect({ status: response.status, faults: faultsOf(response.status, body) }).toEqual({
    status: 404,
    faults: [],
  });
  expect(body.message).toContain("did you mean /api/v2/projects?");
});

test.each([
  ["PUT", "/projects", "GET, POST"],
  ["OPTIONS", "/projects", "GET, POST"],
  ["DELETE", "/users/me", "GET"],
  ["PATCH", "/api_keys", "GET, POST"],
  ["POST", "/projects/shared", "GET"],
])(
  "the method %s is not allowed for %s, and the answer lists the allowed ones",
  async (method, path, allowed) => {
    const { status, headers, body } = await send(await createDouble(), method, path, { headers: AUTHORIZED });
    expect({ status, faults: faultsOf(status, body) }).toEqual({ status: 405, faults: [] });
    const methods = headers.get("allow")?.split(", ") ?? [];
    expect(methods).toEqual(expect.arrayContaining(allowed.split(", ")));
    expect(methods).not.toContain(method);
    expect(new Set(methods).size).toBe(methods.length);
  },
);

test("a body of 1 MiB is read, one byte more is too large", async () => {
  const double = await createDouble();
  const bodyOf = (bytes: number) => JSON.stringify({ project: {} }).padEnd(bytes, " ");
  const read = await send(double, "POST", "/projects", { body: bodyOf(1024 ** 2), headers: JSON_BODY });
  expect(read.status).toBe(201);
  const before = (await double.sim("GET", "/state")).body;
  const { status, body } = await send(double, "POST", "/projects", {
    body: bodyOf(1024 ** 2 + 1),
    headers: JSON_BODY,
  });
  expect({ status, faults: faultsOf(status, body) }).toEqual({ status: 413, faults: [] });
  expect((await double.sim("GET", "/state")).body).toEqual(before);
});

test("a change that the store cannot write gets 503 and does not happen", async () => {
  let full = false;
  class FullJournal extends MemoryJournal {
    override write(batch: Batch): void {
      if (full) throw new Error("no space left");
      super.write(batch);
    }
  }
  const journal = new FullJournal();
  const double = await createDouble({ journal });
  const before = (await double.sim("GET", "/state")).body;
  full = true;
  const { status, headers, body } = await double.api("POST", "/projects", { project: {} });
  expect({ status, faults: faultsOf(status, body) }).toEqual({ status: 503, faults: [] });
  expect(headers.get("retry-after")).toBe("1");
  full = false;
  expect((await double.sim("GET", "/state")).body).toEqual(before);
  expect((await double.api("POST", "/projects", { project: {} })).status).toBe(201);
});

test("the 41st request of one second on one route and account gets 429", async () => {
  const scene = await createScene({ rateLimit: true });
  const { double, others } = scene;
  await double.advance("1m");
  const statuses = [];
  for (let request = 0; request < 40; request += 1)
    statuses.push((await double.api("GET", "/users/me")).status);
  expect(new Set(statuses)).toEqual(new Set([200]));
  const { status, headers, body } = await double.api("GET", "/users/me");
  expect({ status, faults: faultsOf(status, body) }).toEqual({ status: 429, faults: [] });
  expect(body.code).toBe("TOO_MANY_REQUESTS");
  expect(headers.get("retry-after")).toBe("1");
  expect((await double.api("GET", "/projects")).status).toBe(200);
  expect((await double.api("GET", "/users/me", undefined, others.key)).status).toBe(200);
  await double.advance("1s");
  expect((await double.api("GET", "/users/me")).status).toBe(200);
});

test("the 701st request of one minute gets 429", async () => {
  const { double } = await createScene({ rateLimit: true });
  await double.advance("1m");
  for (let request = 0; request < 700; request += 1) {
    if (request % 40 === 39) await double.advance("1s");
    expect((await double.api("GET", "/users/me")).status).toBe(200);
  }
  await double.advance("1s");
  const { status, headers, body } = await double.api("GET", "/users/me");
  expect({ status, faults: faultsOf(status, body) }).toEqual({ status: 429, faults: [] });
  const retryAfter = Number(headers.get("retry-after"));
  await double.advance(`${retryAfter - 1}s`);
  expect((await double.api("GET", "/users/me")).status).toBe(429);
  await double.advance("1s");
  expect((await double.api("GET", "/users/me")).status).toBe(200);
});

test("without the flag there is no rate limit", async () => {
  const double = await createDouble();
  for (let request = 0; request < 100; request += 1)
    expect((await double.api("GET", "/users/me")).status).toBe(200);
});
