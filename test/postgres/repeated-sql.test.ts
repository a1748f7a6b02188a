import type { ClientRequest } from "node:http";
import fc from "fast-check";
import { expect, test } from "vitest";
import { openInProcessPostgres } from "../../src/app/in-process-postgres.ts";
import { memoryStorage, openWorlds } from "../../src/app/open-worlds.ts";
import { API_KEY } from "../support/double/double.ts";
import { expectHolds } from "../support/properties/properties.ts";
import { LATE_START, openComparedServer } from "../support/server/compared-server.ts";

/** Passwords of roles that SQL creates: the one that it sets later is the last one. */
const PASSWORDS = ["Password-two-2", "Password-one-1"];
const select = {
  query: "select current_user::text as me, session_user::text as login, current_database()::text as db",
};
const BODIES: readonly unknown[] = [
  select,
  select,
  select,
  { query: "select $1::int as one, $2::text[] as many", params: [1, ["a", null]] },
  { query: "select 1 / 0" },
  { queries: [{ query: "show transaction_isolation" }, { query: "show transaction_read_only" }] },
  {
    queries: [
      { query: "create table if not exists t (id int primary key)" },
      { query: "insert into t values (1)" },
      { query: "select * from t" },
    ],
  },
  { queries: [] },
  { query: "set statement_timeout = 12345" },
  { query: "begin" },
  { query: "copy t from stdin" },
  { query: "" },
  { query: "create role a login password 'Password-one-1'" },
  { query: "alter role a password 'Password-two-2'" },
  { query: "alter role a rename to b" },
  { query: "alter role b rename to a" },
  { query: "alter role a nologin" },
  { query: "drop role a" },
  { query: "create database d" },
  { query: "drop database d" },
  { query: "alter database d rename to e" },
  "",
  "{",
  "[".repeat(1000),
  { query: "select \u0000" },
  { query: `select ${" ".repeat(300_000)}1` },
];
/** Most requests succeed, and fail for one reason only. */
const usually = <T>(value: T, ...others: readonly T[]) =>
  fc.oneof(
    { weight: 12, arbitrary: fc.constant(value) },
    { weight: 1, arbitrary: fc.constantFrom(value, ...others) },
  );
const sql = fc.record({
  role: fc.oneof(
    { weight: 3, arbitrary: fc.constant("neondb_owner") },
    { weight: 2, arbitrary: fc.constantFrom("r", "r", "a", "b", "none") },
  ),
  password: usually("current", "earlier", "wrong"),
  database: usually("neondb", "d", "e"),
  endpoint: usually("E", "F", "none"),
  pooled: fc.boolean(),
  name: usually("", "app"),
  path: usually("/sql", "/w/fork/sql", "/w/fork/sql", "/sql?a=1", "/w/none/sql"),
  body: fc.oneof(
    { weight: 1, arbitrary: fc.constant<unknown>(select) },
    { weight: 1, arbitrary: fc.constantFrom(...BODIES) },
  ),
  headers: usually<readonly string[]>(
    [],
    ["Neon-Array-Mode", "true"],
    ["Neon-Raw-Text-Output", "true", "Content-Type", "text/plain"],
    [
      "Neon-Batch-Read-Only",
      "true",
      "Neon-Batch-Isolation-Level",
      "Serializable",
      "Neon-Batch-Deferrable",
      "true",
    ],
    ["Neon-Batch-Isolation-Level", "wrong"],
    ["Authorization", "Bearer x"],
    ["X-Forwarded-For", "10.0.0.1", "traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"],
    ["Connection", "close"],
    ["Accept-Encoding", "gzip"],
  ),
  framing: usually("length", "chunked", "split", "expected"),
  times: fc.integer({ min: 2, max: 3 }),
});
type Change = readonly [string, string, unknown?];
const setFault = (effect: unknown, when: object = {}): Change => [
  "PUT",
  "/_sim/faults",
  [{ name: "f", effect, ...when }],
];
const change = fc.constantFrom<Change>(
  ["POST", "/api/v2/projects/P/branches/B/roles", { role: { name: "r" } }],
  ["POST", "/api/v2/projects/P/branches/B/roles", { role: { name: "r" } }],
  ["DELETE", "/api/v2/projects/P/branches/B/roles/r"],
  ["POST", "/api/v2/projects/P/branches/B/roles/r/reset_password"],
  ["POST", "/api/v2/projects/P/branches/B/roles/neondb_owner/reset_password"],
  [
    "POST",
    "/api/v2/projects/P/branches/B/databases",
    { database: { name: "d", owner_name: "neondb_owner" } },
  ],
  ["DELETE", "/api/v2/projects/P/branches/B/databases/d"],
  ["PATCH", "/api/v2/projects/P/branches/B/databases/d", { database: { name: "e" } }],
  ["POST", "/api/v2/projects/P/branches", { branch: { name: "dev" }, endpoints: [{ type: "read_write" }] }],
  ["POST", "/api/v2/projects/P/branches", { branch: { name: "dev" }, endpoints: [{ type: "read_write" }] }],
  ["DELETE", "/api/v2/projects/P/branches/D"],
  ["POST", "/api/v2/projects/P/branches/D/restore", { source_branch_id: "B" }],
  ["POST", "/api/v2/projects/P/branches/D/set_as_default"],
  ["PATCH", "/api/v2/projects/P/branches/D", { branch: { name: "renamed", protected: true } }],
  ["POST", "/api/v2/projects/P/endpoints/E/suspend"],
  ["POST", "/api/v2/projects/P/endpoints/E/restart"],
  ["PATCH", "/api/v2/projects/P/endpoints/E", { endpoint: { disabled: true } }],
  ["PATCH", "/api/v2/projects/P/endpoints/E", { endpoint: { disabled: false } }],
  ["PATCH", "/api/v2/projects/P/endpoints/E", { endpoint: { pooler_enabled: false } }],
  ["PATCH", "/api/v2/projects/P/endpoints/E", { endpoint: { pooler_enabled: true } }],
  ["DELETE", "/api/v2/projects/P/endpoints/F"],
  [
    "PATCH",
    "/api/v2/projects/P",
    { project: { settings: { allowed_ips: { ips: ["10.0.0.1"], protected_branches_only: false } } } },
  ],
  [
    "PATCH",
    "/api/v2/projects/P",
    { project: { settings: { allowed_ips: { ips: ["10.0.0.1"], protected_branches_only: true } } } },
  ],
  [
    "PATCH",
    "/api/v2/projects/P",
    { project: { settings: { allowed_ips: { ips: [], protected_branches_only: false } } } },
  ],
  [
    "PATCH",
    "/api/v2/projects/P",
    { project: { settings: { allowed_ips: { ips: [], protected_branches_only: false } } } },
  ],
  ["PATCH", "/api/v2/projects/P", { project: { settings: { block_public_connections: true } } }],
  ["PATCH", "/api/v2/projects/P", { project: { settings: { block_public_connections: false } } }],
  ["PATCH", "/api/v2/projects/P", { project: { settings: { block_public_connections: false } } }],
  ["PATCH", "/api/v2/projects/P", { project: { settings: { quota: { active_time_seconds: 1 } } } }],
  ["PATCH", "/api/v2/projects/P", { project: { settings: { quota: { active_time_seconds: 0 } } } }],
  ["DELETE", "/api/v2/projects/P"],
  ["POST", "/api/v2/projects/P/recover"],
  ["POST", "/api/v2/projects/P/recover"],
  ["POST", "/_sim/clock/advance", { by: "10s" }],
  ["POST", "/_sim/clock/advance", { by: "10m" }],
  ["POST", "/_sim/clock/advance", { by: "10m" }],
  setFault({ reject_connection: { code: "53300" } }),
  setFault({ reject_connection: { code: "53300" } }, { when: { every: 2 } }),
  setFault({ delay_connection: "3s" }),
  setFault("drop_connection"),
  setFault({ end_connection: { after: 1 } }),
  setFault("start_fails"),
  ["PUT", "/_sim/faults", []],
  ["PUT", "/_sim/faults", []],
  ["PUT", "/_sim/faults", []],
  ["POST", "/_sim/snapshots", { name: "before" }],
  ["POST", "/_sim/snapshots/before/restore"],
  ["POST", "/_sim/reset"],
  ["POST", "/_sim/worlds", { name: "fork" }],
  ["POST", "/_sim/worlds", { name: "fork" }],
  ["DELETE", "/_sim/worlds/fork"],
);
/** After them, most requests succeed again. */
const REPAIRS: readonly Change[] = [
  ["PUT", "/_sim/faults", []],
  ["POST", "/api/v2/projects/P/recover"],
  [
    "PATCH",
    "/api/v2/projects/P",
    {
      project: {
        settings: {
          block_public_connections: false,
          allowed_ips: { ips: [], protected_branches_only: false },
          quota: { active_time_seconds: 0 },
        },
      },
    },
  ],
  ["PATCH", "/api/v2/projects/P/endpoints/E", { endpoint: { disabled: false } }],
  ["POST", "/api/v2/projects/P/branches/B/roles", { role: { name: "r" } }],
];
const step = fc.oneof({ weight: 3, arbitrary: sql }, { weight: 2, arbitrary: change });
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;
type Sql = Exclude<Step, Change>;
const STEPS_BETWEEN_REPAIRS = 6;

test("a repeated POST /sql has the answer and the effect that it has without repetition", async () => {
  let repeated = 0;
  await expectHolds(
    fc.asyncProperty(fc.array(step, { minLength: 20, maxLength: 40 }), async (steps) => {
      const [own, plain] = await Promise.all([openScene(true), openScene(false)]);
      try {
        const repaired = steps.flatMap((taken, index) =>
          index % STEPS_BETWEEN_REPAIRS === 0 ? [...REPAIRS, taken] : [taken],
        );
        for (const taken of repaired)
          for (let time = 0; time < ("times" in taken ? taken.times : 1); time += 1)
            expect(await own.take(taken)).toEqual(await plain.take(taken));
        expect(await own.server.history()).toEqual(await plain.server.history());
        repeated += own.server.repeated();
      } finally {
        await Promise.all([own.close(), plain.close()]);
      }
    }),
    3,
  );
  expect(repeated).toBeGreaterThan(0);
});

/** Without `repeats`, no connection string is known either: each has another parameter that nobody reads. */
async function openScene(repeats: boolean) {
  const rules = { durations: "constant", operations: "immediate" } as const;
  const clock = { mode: "manual", factor: 0 } as const;
  const options = { seed: 1, startAt: LATE_START, apiKey: API_KEY, ...rules, clock };
  const { worlds } = await openWorlds(memoryStorage(), options, () => undefined);
  const postgres = await openInProcessPostgres(worlds, undefined, { ignoresLoad: true });
  const server = await openComparedServer(worlds, { repeats, postgres: postgres.services });
  const created = await server.read("POST", "/api/v2/projects", { project: {} });
  const ids = new Map<string, string>([
    ["P", created.project.id],
    ["B", created.branch.id],
    ["E", created.endpoints[0].id],
  ]);
  const withIds = (text: string) =>
    text
      .replaceAll(/(?<=\/)[PBEDF](?=\/|$)/g, (name) => ids.get(name) ?? "none")
      .replaceAll('"B"', `"${ids.get("B")}"`);
  const passwords = new Map([
    ["neondb_owner", [created.roles[0].password]],
    ["a", PASSWORDS],
    ["b", PASSWORDS],
  ]);
  let sent = 0;
  const connectionString = ({ role, password, database, endpoint, pooled, name }: Sql) => {
    sent += 1;
    const known: readonly string[] = passwords.get(role) ?? ["unknown"];
    const text = { current: known.at(-1), earlier: known[0] }[password] ?? "wrong";
    const id = ids.get(endpoint) ?? "ep-none-1";
    const parameters = new URLSearchParams({ options: `endpoint=${id}${pooled ? "-pooler" : ""}` });
    if (name !== "") parameters.set("application_name", name);
    if (!repeats) parameters.set("unknown", String(sent));
    return `postgresql://${role}:${text}@127.0.0.1/${database}?${parameters}`;
  };
  return {
    server,
    async take(taken: Step) {
      if ("times" in taken) {
        const body = typeof taken.body === "string" ? taken.body : JSON.stringify(taken.body);
        const headers = ["Neon-Connection-String", connectionString(taken), ...taken.headers];
        const framed = framedBody(Buffer.from(body), taken.framing);
        headers.push(...framed.headers);
        const { path } = taken;
        return server.comparable(await server.send({ method: "POST", path, headers, write: framed.write }));
      }
      const [method, path, body] = taken;
      const given = body === undefined ? undefined : JSON.parse(withIds(JSON.stringify(body)));
      const answer = await server.call(method, withIds(path), given);
      // An invalid fault would change nothing.
      if (path === "/_sim/faults") expect(answer.status).toBe(200);
      const { role, branch, endpoints } = answer.body.startsWith("{") ? JSON.parse(answer.body) : {};
      if (role?.password !== undefined)
        passwords.set(role.name, [...(passwords.get(role.name) ?? []), role.password]);
      if (path.endsWith("/branches") && answer.status === 201)
        ids.set("D", branch.id).set("F", endpoints[0].id);
      return server.comparable(answer);
    },
    async close() {
      await server.close();
      await postgres.close();
      await worlds.close();
    },
  };
}

function framedBody(bytes: Buffer, framing: string) {
  const headers =
    framing === "chunked"
      ? ["Transfer-Encoding", "chunked"]
      : [
          "Content-Length",
          String(bytes.length),
          ...(framing === "expected" ? ["Expect", "100-continue"] : []),
        ];
  const half = Math.floor(bytes.length / 2);
  const write = (sending: ClientRequest) => {
    if (framing === "expected") sending.once("continue", () => sending.end(bytes)).flushHeaders();
    else if (framing === "split" && half > 0)
      sending.write(bytes.subarray(0, half), () => setTimeout(() => sending.end(bytes.subarray(half)), 1));
    else sending.end(bytes);
  };
  return { headers, write };
}
