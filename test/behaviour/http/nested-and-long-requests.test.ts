import fc from "fast-check";
import { describe, expect, onTestFinished, test } from "vitest";
import { containsSecret } from "../../../src/http/secret-text.ts";
import { redactedPath } from "../../../src/platform-api/http/request-journal.ts";
import { API_KEY, createDouble } from "../../support/double/double.ts";
import { createStorageDouble, STORAGE_KINDS } from "../../support/double/storage-double.ts";
import { expectHolds } from "../../support/properties/properties.ts";

const MAX_DEPTH = 64;

/** JSON text that is nested this many levels deep. */
function nested(depth: number, open = "[", close = "]"): string {
  return `${open.repeat(depth)}${close.repeat(depth)}`;
}

describe.each(STORAGE_KINDS)("%s", (kind) => {
  test.each([2_500, 200_000])("a body nested %i levels deep does not break later commits", async (depth) => {
    const made = await createStorageDouble(kind);
    onTestFinished(made.end);
    const double = made.double();
    const responses = await Promise.all([
      double.api("POST", "/projects", nested(depth), "nobody"),
      double.api("POST", "/api_keys", { key_name: "beside" }),
      double.api("POST", "/projects", nested(depth)),
      double.api("POST", "/projects", { project: { name: "beside" } }),
    ]);
    expect(responses.map(({ status }) => status)).toEqual([401, 200, 400, 201]);
    expect((await double.api("POST", "/api_keys", { key_name: "after" })).status).toBe(200);
    const { requests } = (await double.sim("GET", "/requests")).body;
    // A body that is not read to its end is answered sooner than one that was sent before it.
    expect(requests.map(({ status }) => status).sort()).toEqual([200, 200, 201, 400, 401]);
    const bodyOf = (status: number) => requests.find((request) => request.status === status).body;
    expect([bodyOf(401), bodyOf(400)]).toEqual([undefined, { not_kept: "nested too deeply" }]);
    await made.reopen();
    expect((await made.double().api("GET", "/projects")).body.projects).toHaveLength(1);
    expect((await made.double().sim("GET", "/requests?count=true")).body.count).toBe(6);
  });
});

test("a body may be nested 64 levels deep; a deeper one is 400, with a message that states the limit", async () => {
  const double = await createDouble();
  onTestFinished(double.close);
  const bodyOf = (depth: number) => `{"key_name":"k","more":${nested(depth - 1)}}`;
  for (const call of [double.api, double.sim]) {
    const allowed = await call("POST", "/api_keys", bodyOf(MAX_DEPTH));
    expect(allowed.body.message ?? "").not.toContain("nested");
    const { status, body } = await call("POST", "/api_keys", bodyOf(MAX_DEPTH + 1));
    expect([status, body.code, body.message]).toEqual([
      400,
      "BAD_REQUEST",
      "request body: must not be nested more than 64 levels deep",
    ]);
  }
});

test("brackets in strings are not levels, and neither are siblings", async () => {
  const double = await createDouble();
  onTestFinished(double.close);
  for (const name of ["[".repeat(100), `\\\\\\"${"{".repeat(100)}`]) {
    const { body } = await double.api("POST", "/projects", `{"project":{"name":"${name}"}}`);
    expect(body.message ?? "").not.toContain("nested");
    expect(body.project?.name ?? name).toBe(JSON.parse(`"${name}"`));
  }
  const siblings = JSON.stringify({ project: { name: Array.from({ length: 200 }, () => [[]]) } });
  expect((await double.api("POST", "/projects", siblings)).body.message).not.toContain("nested");
});

test("the path of a request is stored up to 2,048 characters, without a part of a secret at the cut", async () => {
  const double = await createDouble();
  onTestFinished(double.close);
  const stored = async (query: string) => {
    await double.api("GET", `/projects?${query}`);
    return (await double.sim("GET", "/requests")).body.requests.at(-1).path as string;
  };
  const base = "/api/v2/projects?";
  const exact = "a".repeat(2_048 - base.length);
  expect(await stored(exact)).toBe(`${base}${exact}`);
  const cut = await stored(`${exact}b`);
  expect(cut).toHaveLength(2_048);
  expect(cut.endsWith("…")).toBe(true);
  for (let padding = 1_990; padding < 2_030; padding += 1) {
    expect(await stored(`a=${"a".repeat(padding)}&x=${API_KEY}`)).not.toContain("kkkk");
    expect(await stored(`a=${"a".repeat(padding)}&x=pg://u:hunter2@host`)).not.toContain("hun");
  }
});

test("a connection URI in a path is removed, though its slashes divide it", () => {
  expect(redactedPath("http://h/api/v2/projects/postgres://u:hunter2@host/db")).not.toContain("hunter2");
});

test("every text that the regular expression of release 0.4.0 found secret is still found, and no other", async () => {
  const before = /:\/\/[^\s/@]*:[^\s@]*@|npg_\w+|\b[A-Za-z0-9]{64}\b|\bbearer\s+\S+/i;
  const part = fc.constantFrom(
    ...[
      "://",
      ":",
      "/",
      "@",
      " ",
      "\u00a0",
      "\n",
      "a",
      "é",
      "_",
      "npg_",
      "bearer",
      "Bearer ",
      "k".repeat(63),
    ],
  );
  await expectHolds(
    fc.asyncProperty(fc.array(part, { maxLength: 12 }), async (parts) => {
      expect(containsSecret(parts.join(""))).toBe(before.test(parts.join("")));
    }),
    5_000,
  );
});

/** Milliseconds of processor time of the fastest of several runs, which other processes do not slow down. */
function fastest(work: () => void): number {
  return Math.min(
    ...Array.from({ length: 7 }, () => {
      const start = process.cpuUsage();
      work();
      const { user, system } = process.cpuUsage(start);
      return (user + system) / 1_000;
    }),
  );
}

test.each([
  ["colons", ":"],
  ["user names without a host", "://a:"],
  ["slashes", "/"],
  ["almost-secrets", "bearer%20"],
  ["at signs", "://@"],
  ["parameters", "&a"],
])("the time to redact a query of %s grows with its length, not with its square", (_, part) => {
  const queryOf = (length: number) => `http://h/p?q=://${part.repeat(Math.ceil(length / part.length))}`;
  const length = 24_000;
  const [short, long] = [queryOf(length), queryOf(4 * length)];
  // Linear work takes 4 times as long, quadratic work 16 times. The lowest of several ratios is free of pauses.
  const ratios = Array.from({ length: 5 }, () => {
    const shortMs = fastest(() => redactedPath(short));
    return fastest(() => redactedPath(long)) / Math.max(shortMs, 0.05);
  });
  expect(Math.min(...ratios)).toBeLessThan(10);
});
