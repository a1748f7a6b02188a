import fc from "fast-check";
import { expect, test } from "vitest";
import { openWorlds } from "../../src/app/open-worlds.ts";
import { MIGRATIONS_FOLDER } from "../../src/app/package-root.ts";
import { DataDirectory } from "../../src/worlds/data-directory.ts";
import { API_KEY } from "../support/double/double.ts";
import { temporaryDirectory } from "../support/process/process.ts";
import { expectHolds } from "../support/properties/properties.ts";
import { type ComparedServer, LATE_START, openComparedServer } from "../support/server/compared-server.ts";
import { SMALL_BLOCKS } from "../support/store/small-blocks.ts";

/**
 * Single letters become ids: of two projects, of a branch of the first one and a later branch, of an endpoint, of the
 * organization, and of what the changes create.
 */
const PATHS = [
  "/projects",
  "/projects?limit=2",
  "/projects?limit=%32",
  "/projects?recoverable=true",
  "/projects?org_id=O",
  "/projects?search=more",
  "/projects/shared",
  "/projects/P",
  "/projects/Q",
  "/projects/P/branches",
  "/projects/P/branches?include_deleted=true",
  "/projects/P/branches?sort_by=name&limit=1",
  "/projects/P/branches/B",
  "/projects/P/branches/C",
  "/projects/P/branches/B/endpoints",
  "/projects/P/endpoints",
  "/projects/P/endpoints/E",
  "/projects/P/operations",
  "/projects/P/operations?limit=3",
  "/projects/P/permissions",
  "/organizations/O/members",
  "/users/me",
];
/** Headers `If-None-Match`. `E` becomes the last entity tag, `S` the same without `W/`. */
const MATCHES = [["*"], ["E"], ["S"], ['"a", E , W/"b"'], ['"a"', "E"], ["garbage"], [""], ["W/"], ["xE"]];

const NONE: readonly string[] = [];
const KEYS = ["first", "second", "other", "organization", "project", "none"];

const read = fc.record({
  method: fc.constantFrom<string>("GET", "GET", "GET", "GET", "HEAD"),
  key: fc.constantFrom("first", ...KEYS),
  accepts: fc.constantFrom<string | undefined>(
    undefined,
    "gzip",
    "gzip;q=0",
    "gzip; q=0.0, br",
    "br, gzip;q=0.5",
    "*",
    "GZIP",
  ),
  matches: fc.oneof(fc.constant(NONE), fc.constantFrom<readonly string[]>(...MATCHES)),
});
/** Callers with different rights who read the same URL. */
const url = fc.record({
  base: fc.constantFrom<string>("/api/v2", "/api/v2", "/api/v2", "/w/fork/api/v2"),
  path: fc.constantFrom(...PATHS),
  reads: fc.array(read, { minLength: 3, maxLength: 6 }),
});
type Read = (typeof read extends fc.Arbitrary<infer T> ? T : never) & { readonly url: string };

type Change = readonly [method: string, path: string, body?: unknown];
const setFault = (fault: object): Change => ["PUT", "/_sim/faults", [{ name: "f", ...fault }]];
const INVITED = "other@standin.example";
const inviteAs = (role: string): Change => [
  "POST",
  "/api/v2/organizations/O/invitations",
  { invitations: [{ email: INVITED, role }] },
];
const CHANGES: readonly Change[] = [
  ["POST", "/api/v2/projects", { project: { name: "more" } }],
  ["PATCH", "/api/v2/projects/P", { project: { name: "renamed" } }],
  ["DELETE", "/api/v2/projects/P"],
  ["POST", "/api/v2/projects/P/recover"],
  ["POST", "/api/v2/projects/P/recover"],
  ["DELETE", "/api/v2/projects/Q"],
  ["POST", "/api/v2/projects/P/branches", { branch: { name: "c" }, endpoints: [{ type: "read_write" }] }],
  ["POST", "/api/v2/projects/P/branches", { branch: { name: "c", expires_at: "2040-01-01T00:05:00Z" } }],
  ["DELETE", "/api/v2/projects/P/branches/C"],
  ["POST", "/api/v2/projects/P/branches/C/restore", { source_branch_id: "B" }],
  ["POST", "/api/v2/projects/P/branches/C/set_as_default"],
  ["PATCH", "/api/v2/projects/P/endpoints/E", { endpoint: { suspend_timeout_seconds: 60 } }],
  ["POST", "/api/v2/projects/P/endpoints/E/start"],
  ["POST", "/api/v2/projects/P/endpoints/E/suspend"],
  ["POST", "/_sim/activity", { endpoint_id: "E", kind: "query" }],
  ["POST", "/_sim/activity", { endpoint_id: "E", kind: "connect", connection_id: "c" }],
  ["POST", "/_sim/activity", { endpoint_id: "E", kind: "disconnect", connection_id: "c" }],
  ...["1ms", "400ms", "1s", "10m", "31d"].map((by): Change => ["POST", "/_sim/clock/advance", { by }]),
  ["POST", "/_sim/compact", { keep: "0s" }],
  ["DELETE", "/_sim/api_keys/K-second"],
  ["DELETE", "/_sim/api_keys/K-organization"],
  ["DELETE", "/_sim/api_keys/K-project"],
  ["POST", "/api/v2/projects/P/permissions", { email: INVITED }],
  ["DELETE", "/api/v2/projects/P/permissions/R"],
  inviteAs("member"),
  inviteAs("collaborator"),
  ["PATCH", "/api/v2/organizations/O/members/M", { role: "collaborator" }],
  ["PATCH", "/api/v2/organizations/O/members/M", { role: "admin" }],
  ["DELETE", "/api/v2/organizations/O/members/M"],
  ["PATCH", "/_sim/accounts/A", { plan: "free" }],
  setFault({ on: { operation: "listProjects" }, when: { every: 2 }, effect: { answer: { status: 503 } } }),
  setFault({ on: { operation: "getProject" }, effect: "lose_response" }),
  setFault({ effect: { latency: { takes: "3s" } } }),
  setFault({ effect: { rate_limit: { requests: 3, per: "10s" } } }),
  setFault({ effect: { maintenance: { for: "10s" } } }),
  ["PUT", "/_sim/faults", []],
  ["PUT", "/_sim/faults", []],
  ["POST", "/_sim/snapshots", { name: "before" }],
  ["POST", "/_sim/snapshots/before/restore"],
  ["POST", "/_sim/snapshots/before/restore"],
  ["POST", "/_sim/worlds", { name: "fork" }],
  ["POST", "/_sim/worlds", { name: "fork" }],
  ["DELETE", "/_sim/worlds/fork"],
  ["DELETE", "/w/fork/api/v2/projects/P"],
];

/** Each with its own rights. */
const READS_OF_ALL = KEYS.map((key) => ({ method: "GET", key, accepts: undefined, matches: NONE }));

test("a repeated read has the answer that it has without repetition after each change of rights, rows and time", async () => {
  let repeated = 0;
  await expectHolds(
    fc.asyncProperty(
      fc.boolean(),
      fc.array(url, { minLength: 1, maxLength: 3 }),
      fc.array(fc.constantFrom(...CHANGES), { minLength: 5, maxLength: 15, size: "max" }),
      async (rateLimit, urls, changes) => {
        const reads = urls.flatMap(({ base, path, reads }) =>
          reads.map((each): Read => ({ ...each, url: base + path })),
        );
        const [own, plain] = await Promise.all([openScene(rateLimit, true), openScene(rateLimit, false)]);
        try {
          for (const change of [undefined, ...changes]) {
            if (change !== undefined) expect(await own.change(change)).toEqual(await plain.change(change));
            for (const each of reads) expect(await own.read(each)).toEqual(await plain.read(each));
          }
          expect(await own.server.history()).toEqual(await plain.server.history());
          repeated += own.server.repeated();
        } finally {
          await Promise.all([own.close(), plain.close()]);
        }
      },
    ),
    20,
    [[false, [{ base: "/api/v2", path: "/projects", reads: READS_OF_ALL }], []]],
  );
  expect(repeated).toBeGreaterThan(0);
});

/** A world in a file, whose old operations are deleted by `compact`. */
async function openScene(rateLimit: boolean, repeats: boolean) {
  const directory = temporaryDirectory();
  const storage = new DataDirectory(directory.path, MIGRATIONS_FOLDER, SMALL_BLOCKS);
  const options = { seed: 1, startAt: LATE_START, durations: "constant", apiKey: API_KEY } as const;
  const clock = { mode: "manual", factor: 0 } as const;
  const { worlds } = await openWorlds(storage, { ...options, clock }, () => undefined);
  const server = await openComparedServer(worlds, { repeats, rateLimit });
  const { ids, keys } = await createObjects(server);
  const withIds = (text: string) =>
    text
      .replaceAll(/(?<=[/=])(?:[PQBCEORMA]|K-\w+)(?=\/|$|&)/g, (name) => ids.get(name) ?? "none")
      .replaceAll(/"[BE]"/g, (name) => `"${ids.get(name.slice(1, -1))}"`);
  let tag = 'W/"none"';
  return {
    server,
    async read({ method, url, key, accepts, matches }: Read) {
      const headers = ["Authorization", `Bearer ${keys.get(key)}`];
      if (accepts !== undefined) headers.push("Accept-Encoding", accepts);
      for (const form of matches)
        headers.push("If-None-Match", form.replace("E", tag).replace("S", tag.slice("W/".length)));
      const write = (sending: { end(): unknown }) => sending.end();
      const answer = await server.send({ method, path: withIds(url), headers, write });
      tag = answer.lines.find((line) => line.startsWith("Etag: "))?.slice("Etag: ".length) ?? tag;
      return server.comparable(answer);
    },
    async change([method, path, body]: Change) {
      const given = body === undefined ? undefined : JSON.parse(withIds(JSON.stringify(body)));
      const answer = await server.call(method, withIds(path), given);
      const created = answer.body.startsWith("{") ? JSON.parse(answer.body) : {};
      // An invalid fault would change nothing.
      if (path === "/_sim/faults") expect(answer.status).toBe(200);
      if (path.endsWith("/branches") && answer.status === 201) ids.set("C", created.branch.id);
      if (path.endsWith("/permissions") && answer.status === 200) ids.set("R", created.id);
      if (path.endsWith("/invitations")) {
        const { members = [] } = await server.read("GET", withIds("/api/v2/organizations/O/members"));
        ids.set("M", members[0]?.member.id);
      }
      return server.comparable(answer);
    },
    async close() {
      await server.close();
      await worlds.close();
      storage.release();
      directory.remove();
    },
  };
}

/** Two projects of the first account, another account, and keys of all kinds. */
async function createObjects({ call, read }: ComparedServer) {
  const { project, branch, endpoints } = await read("POST", "/api/v2/projects", { project: {} });
  const other = await read("POST", "/api/v2/projects", { project: {} });
  const { organizations } = await read("GET", "/api/v2/users/me/organizations");
  const { accounts } = await read("GET", "/_sim/accounts");
  const keys = new Map([
    ["first", API_KEY],
    ["second", "s".repeat(64)],
    ["other", "o".repeat(64)],
    ["none", "n".repeat(64)],
  ]);
  const second = { key_name: "second", api_key: keys.get("second") };
  const { id: secondId } = await read("POST", "/_sim/api_keys", second);
  await call("POST", "/_sim/accounts", { name: "other", email: INVITED, api_key: keys.get("other") });
  const ids = new Map<string, string>([
    ["P", project.id],
    ["B", branch.id],
    ["E", endpoints[0].id],
    ["Q", other.project.id],
    ["O", organizations[0].id],
    ["A", accounts[0].id],
    ["K-second", String(secondId)],
  ]);
  for (const [name, project_id] of [["organization"], ["project", project.id]]) {
    const path = `/api/v2/organizations/${ids.get("O")}/api_keys`;
    const { id, key } = await read("POST", path, { key_name: name, project_id });
    ids.set(`K-${name}`, String(id));
    keys.set(name, key);
  }
  await call("POST", "/_sim/clock/advance", { by: "10s" });
  return { ids, keys };
}
