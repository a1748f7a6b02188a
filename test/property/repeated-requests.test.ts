import { Agent, type ClientRequest } from "node:http";
import fc from "fast-check";
import { expect, test } from "vitest";
import { memoryStorage, openWorlds } from "../../src/app/open-worlds.ts";
import { MAX } from "../../src/input-limits/limits.ts";
import { API_KEY } from "../support/double/double.ts";
import { expectHolds } from "../support/properties/properties.ts";
import { LATE_START, openComparedServer } from "../support/server/compared-server.ts";

/** Paths of reads; `P`, `B` and `E` become the ids of a project, of its branch and of its endpoint. */
const PATHS = [
  "/projects",
  "/projects?limit=2",
  "/projects?limit=2&search=a%20b",
  "/projects?limit=2&limit=3",
  "/projects?limit=no",
  "/projects?org_id=none",
  "/projects/P",
  "/projects/P/",
  "/projects/./P",
  "/projects/none",
  "/projects/P/branches",
  "/projects/P/endpoints",
  "/projects/P/endpoints/E",
  "/projects/P/operations?limit=3",
  "/projects/P/connection_uri?database_name=neondb&role_name=neondb_owner",
  "/projects/P/branches/B/buckets/files/objects/a/download",
  "/api_keys",
  "/users/me",
  "/regions",
  "/none",
];
const BASES = ["/api/v2", "/w/fork/api/v2", "/w/fork/api/v2", "/w/none/api/v2"];

const read = fc.record({
  method: fc.constantFrom("GET", "GET", "GET", "GET", "GET", "GET", "HEAD"),
  base: fc.constantFrom("/api/v2", "/api/v2", "/api/v2", ...BASES),
  path: fc.constantFrom(...PATHS),
  key: fc.constantFrom(
    "first",
    "first",
    "first",
    "first",
    "first",
    "first",
    "created",
    "created",
    "wrong",
    "none",
    "twice",
  ),
  gzip: fc.constantFrom(undefined, "gzip", "gzip;q=0"),
  known: fc.constantFrom(undefined, undefined, "*", "previous", "W/other"),
  id: fc.constantFrom(undefined, "given", "not valid"),
  host: fc.constantFrom(undefined, undefined, undefined, undefined, undefined, "Other.test"),
  body: fc.constantFrom("", "", "", "", "", "", "{}"),
  /** Sent again, so that the second request is a repeated one. */
  times: fc.integer({ min: 2, max: 4 }),
});

/** Paths of writes with some valid bodies. */
const WRITES: readonly (readonly [method: string, path: string, ...valid: string[]])[] = [
  ["POST", "/api_keys", '{"key_name":"a"}', '{"key_name":"b","unknown":[1]}'],
  ["POST", "/projects", "{}", '{"project":{"name":"p"}}', '{"project":{"pg_version":99}}'],
  ["PATCH", "/projects/P", '{"project":{"name":"changed"}}'],
  ["POST", "/projects/P/branches", "", '{"branch":{"name":"c"}}', '{"endpoints":[{"type":"read_write"}]}'],
  ["POST", "/projects/P/branches/B/roles", '{"role":{"name":"r"}}'],
  ["PATCH", "/projects/P/endpoints/E", '{"endpoint":{"suspend_timeout_seconds":300}}'],
  ["POST", "/projects/P/endpoints/E/suspend", ""],
  ["POST", "/projects/P/endpoints/E/start", ""],
  ["DELETE", "/projects/P/branches/B/roles/r", ""],
  ["POST", "/projects/P/branches/B/buckets/files/objects/a/presign", '{"operation":"download"}'],
];
/** As `latin1`. */
const INVALID = [
  "",
  "{",
  "[]",
  "null",
  '{"key_name":1}',
  '{"key_name":"a"}}',
  '{"__proto__":1}',
  '{"key_name":"\\ud800"}',
  '{"key_name":"\\u0000"}',
  '{"key_name":"\xff"}',
  "[".repeat(100),
  "[0".padEnd(MAX.httpValues * 2 + 10, ",0"),
];
const SIZES = [0, MAX.httpBodyBeforeLogin, MAX.httpBodyBeforeLogin + 1, MAX.httpBodyBeforeLogin + 50_000];

const write = fc.constantFrom(...WRITES).chain(([method, path, ...valid]) =>
  fc.record({
    method: fc.constant(method),
    path: fc.constant(path),
    text: fc.oneof(
      { weight: 4, arbitrary: fc.constantFrom(...valid) },
      { weight: 1, arbitrary: fc.constantFrom(...INVALID) },
    ),
    /** The length up to which spaces follow. */
    size: fc.oneof({ weight: 9, arbitrary: fc.constant(0) }, fc.constantFrom(...SIZES)),
    base: fc.constantFrom("/api/v2", "/api/v2", "/api/v2", ...BASES),
    key: fc.constantFrom("first", "first", "first", "first", "created", "wrong", "twice"),
    types: fc.constantFrom<string[]>(
      ...[["application/json"], ["application/json"], ["application/json; charset=utf-8"]],
      ...[[], ["text/plain"], ["application/json", "text/plain"]],
    ),
    framing: fc.constantFrom("length", "length", "length", "split", "chunked", "expected"),
    times: fc.integer({ min: 1, max: 3 }),
    /** How many are sent at once on connections of their own. */
    together: fc.constantFrom(1, 1, 1, 4),
  }),
);
const change = fc.constantFrom<readonly [string, string, unknown?]>(
  ["POST", "/api/v2/projects", { project: { name: "more" } }],
  ["PATCH", "/api/v2/projects/P", { project: { name: "renamed" } }],
  ["POST", "/api/v2/projects/P/endpoints/E/suspend"],
  ["DELETE", "/api/v2/projects/P"],
  ["POST", "/_sim/clock/advance", { by: "10s" }],
  ["POST", "/_sim/clock/advance", { by: "400ms" }],
  [
    "PUT",
    "/_sim/faults",
    [{ name: "f", on: { operation: "listProjects" }, effect: { answer: { status: 423 } } }],
  ],
  ["PUT", "/_sim/faults", [{ name: "f", on: { operation: "getProject" }, effect: "drop" }]],
  ["PUT", "/_sim/faults", [{ name: "f", effect: { latency: { takes: "1ms", clock: "wall" } } }]],
  ["PUT", "/_sim/faults", []],
  ["PUT", "/_sim/faults", []],
  ["POST", "/_sim/worlds", { name: "fork" }],
  ["POST", "/_sim/worlds", { name: "fork" }],
  ["DELETE", "/_sim/worlds/fork"],
  ["DELETE", "/api/v2/api_keys/2"],
);
const step = fc.oneof(
  { weight: 3, arbitrary: read },
  { weight: 3, arbitrary: write },
  { weight: 1, arbitrary: change },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;
type Write = Extract<Step, { framing: string }>;
type Read = Exclude<Extract<Step, { path: string }>, Write>;

test("a repeated request has the answer, the effect and the entry in the log that it has without repetition", async () => {
  let answered = 0;
  await expectHolds(
    fc.asyncProperty(
      fc.boolean(),
      fc.array(step, { minLength: 10, maxLength: 30 }),
      async (rateLimit, steps) => {
        const [own, plain] = await Promise.all([openServer(rateLimit, true), openServer(rateLimit, false)]);
        try {
          for (const taken of steps) {
            for (let time = 0; time < ("times" in taken ? taken.times : 1); time += 1)
              expect(await own.take(taken)).toEqual(await plain.take(taken));
          }
          expect(await own.log()).toEqual(await plain.log());
          answered += own.repeated();
        } finally {
          await Promise.all([own.close(), plain.close()]);
        }
      },
    ),
    40,
  );
  expect(answered).toBeGreaterThan(0);
});

async function openServer(rateLimit: boolean, repeats: boolean) {
  const options = { seed: 1, startAt: LATE_START, durations: "constant", apiKey: API_KEY } as const;
  const clock = { mode: "manual", factor: 0 } as const;
  const { worlds } = await openWorlds(memoryStorage(), { ...options, clock }, () => undefined);
  let now = 0;
  // Each write ends the turn of the writes.
  const steadyTime = () => {
    now += 10;
    return now;
  };
  const { send, call, read, repeated, comparable, close } = await openComparedServer(worlds, {
    ...{ repeats, rateLimit, steadyTime },
  });
  const others = new Agent({ keepAlive: true });
  const created = await read("POST", "/api/v2/api_keys", { key_name: "created" });
  const { project, branch, endpoints } = await read("POST", "/api/v2/projects", { project: {} });
  await call("POST", "/_sim/clock/advance", { by: "10s" });
  const withIds = (path: string) =>
    path
      .replace("/P", `/${project.id}`)
      .replace("/B/", `/${branch.id}/`)
      .replace("/E", `/${endpoints[0].id}`);
  const buckets = withIds("/api/v2/projects/P/branches/B/buckets");
  await call("POST", buckets, { name: "files" });
  const upload = await read("POST", `${buckets}/files/objects/a/presign`, { operation: "upload" });
  const { pathname, search } = new URL(upload.url);
  expect((await call("PUT", pathname + search, { stored: "bytes" })).status).toBe(200);
  const keys = {
    first: [API_KEY],
    created: [created.key as string],
    wrong: ["w".repeat(64)],
    none: [],
    twice: [API_KEY, "w".repeat(64)],
  };
  let etag = "";
  const readOnce = async ({ method, base, path, key, gzip, known, id, host, body }: Read) => {
    const headers: string[] = [];
    for (const secret of keys[key as keyof typeof keys]) headers.push("Authorization", `Bearer ${secret}`);
    if (gzip !== undefined) headers.push("Accept-Encoding", gzip);
    if (known !== undefined) headers.push("If-None-Match", known === "previous" ? etag : known);
    if (id !== undefined) headers.push("X-Request-ID", id);
    if (body !== "") headers.push("Content-Length", String(body.length));
    const write = (sending: ClientRequest) => void sending.end(body);
    const answer = await send({ method, path: base + withIds(path), headers, host, write });
    etag = answer.lines.find((line) => line.startsWith("Etag: "))?.slice(6) ?? etag;
    return answer;
  };
  const writeOnce = ({ method, base, path, key, text, size, types, framing }: Write, agent?: Agent) => {
    const bytes = Buffer.from(text.padEnd(size), "latin1");
    const headers: string[] = [];
    // Only with a valid key is more than this read. Without one, the connection closes while it is sent.
    const isLarge = bytes.length > MAX.httpBodyBeforeLogin;
    for (const secret of keys[isLarge ? "first" : (key as keyof typeof keys)])
      headers.push("Authorization", `Bearer ${secret}`);
    for (const type of types) headers.push("Content-Type", type);
    if (framing === "expected") headers.push("Expect", "100-continue");
    headers.push(
      ...(framing === "chunked"
        ? ["Transfer-Encoding", "chunked"]
        : ["Content-Length", String(bytes.length)]),
    );
    const half = Math.floor(bytes.length / 2);
    const write = (sending: ClientRequest) => {
      if (framing === "expected") sending.once("continue", () => sending.end(bytes)).flushHeaders();
      else if (framing === "split" && bytes.length > 0) {
        sending.write(bytes.subarray(0, half), () => setTimeout(() => sending.end(bytes.subarray(half)), 1));
      } else sending.end(bytes);
    };
    return send({ method, path: base + withIds(path), headers, write, ...(agent && { agent }) });
  };
  return {
    repeated,
    async take(taken: Step) {
      if ("framing" in taken) {
        const { together } = taken;
        if (together === 1) return comparable(await writeOnce(taken));
        const answers = await Promise.all(Array.from({ length: together }, () => writeOnce(taken, others)));
        return answers.map((answer) => JSON.stringify(comparable(answer))).sort();
      }
      if ("times" in taken) return comparable(await readOnce(taken));
      const [method, path, body] = taken;
      const answer = await call(method, withIds(path), body);
      // An invalid fault would change nothing.
      if (path === "/_sim/faults") expect(answer).toMatchObject({ status: 200 });
      return comparable(answer);
    },
    async log() {
      const answer = await call("GET", "/_sim/requests?limit=1000");
      // Requests that are sent at once are delayed by faults, each until another event.
      return comparable({ ...answer, body: answer.body.replaceAll(/"seq":\d+/g, '"seq":0') });
    },
    async close() {
      others.destroy();
      await close();
      await worlds.close();
    },
  };
}
