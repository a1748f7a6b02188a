import fc from "fast-check";
import { expect } from "vitest";
import type { Answer, Double } from "./double.ts";
import { REPLAY_PATH } from "./properties.ts";
import { loadPublicDocument } from "./public-document.ts";

// A walk knows no rules but those that hold wherever it comes: what a step may be refused with is for other tests.

const SECOND = 1_000;
const HOUR = 3_600 * SECOND;
const DAY = 24 * HOUR;
/** What a caller who asks well may be told. */
const ANSWERS = [200, 201, 202, 404, 409, 412, 422, 423];
const NOWHERE = "br-nowhere-at-all-00000000";

const document = loadPublicDocument();

/** What has been made so far; much of it is gone again. */
type Seen = { readonly projects: string[]; readonly snapshots: { readonly id: string; readonly projectId: string }[]; now: number };
/** Where a world is a file, it can be closed and opened again. */
export type Ground = { readonly double: () => Double; readonly reopen?: () => Promise<void> };
export type Step = fc.AsyncCommand<Seen, Ground>;

type Branch = { readonly id: string; readonly parent_id?: string; readonly recovery?: object; readonly expires_at?: string } & Record<
  "default" | "protected",
  boolean
>;
/** What a step is taken in: a project, its branches (those that can be recovered last) and its computes. */
type Place = {
  readonly projectId: string;
  readonly branches: readonly Branch[];
  readonly endpoints: readonly string[];
  readonly now: number;
  /** Asks for an operation of the document, by its path behind the project. */
  ask(operationId: string, path: string, body?: unknown): Promise<Answer>;
  /** Tells of an activity. */
  act(activity: object): Promise<Answer>;
};

function step(text: string, run: (seen: Seen, ground: Ground) => Promise<void>): Step {
  return {
    check: () => true,
    async run(seen, ground) {
      await run(seen, ground);
      await expectInOrder(seen, ground);
    },
    toString: () => text,
  };
}

/** Steps that are taken in some project, most of them when nothing is under way there. */
function stepIn<T extends object>(
  fields: { [K in keyof T]: fc.Arbitrary<T[K]> },
  text: (fields: NoInfer<T>) => string,
  run: (fields: NoInfer<T>, place: Place, seen: Seen) => Promise<void>,
): fc.Arbitrary<Step> {
  const waits = fc.constantFrom(true, true, true, true, false);
  const where = fc.record({ project: fc.constantFrom(0, 0, 0, 1, 2), waits, gone: fc.constantFrom(...Array(19).fill(false), true) });
  return fc.tuple(where, fc.record(fields) as unknown as fc.Arbitrary<T>).map(([{ project, waits, gone }, drawn]) =>
    step(
      `in ${gone ? "any" : "living"} project ${project}${waits ? ", when nothing is under way there" : ""}: ${text(drawn)}`,
      async (seen, ground) => {
        if (waits) await advance(seen, ground, { by: 30 * SECOND });
        const { body } = await askFor(ground.double(), "listProjects", `/projects?limit=400`);
        const living: string[] = body.projects.map(({ id }: { id: string }) => id);
        const projectId = pick(gone ? seen.projects : living, project) ?? pick(seen.projects, project) ?? "";
        await run(drawn, await placeOf(projectId, seen, ground), seen);
      },
    ),
  );
}

async function placeOf(projectId: string, seen: Seen, { double }: Ground): Promise<Place> {
  const ask = (operationId: string, path: string, body?: unknown) => askFor(double(), operationId, `/projects/${projectId}${path}`, body);
  const act = (activity: object) => double().sim("POST", "/activity", activity);
  const branches =
    (await ask("listProjectBranches", "/branches?include_deleted=true&sort_by=created_at&sort_order=asc")).body.branches ?? [];
  const endpoints = (await ask("listProjectEndpoints", "/endpoints")).body.endpoints ?? [];
  return { projectId, branches, endpoints: endpoints.map(({ id }: { id: string }) => id), now: seen.now, ask, act };
}

/** Every answer is one that the document knows. */
async function askFor(double: Double, operationId: string, path: string, body?: unknown): Promise<Answer> {
  const { method } = document.operation(operationId);
  const answer = await double.api(method, path, body);
  const { status } = answer;
  const told = `${operationId} ${path} ${JSON.stringify(body)}: ${status} ${JSON.stringify(answer.body)}`;
  expect(ANSWERS, told).toContain(status);
  expect(document.answerFaults(operationId, status, answer.body), told).toEqual([]);
  return answer;
}

async function advance(seen: Seen, { double }: Ground, target: object): Promise<void> {
  const { status, body } = await double().sim("POST", "/clock/advance", target);
  expect(status, JSON.stringify(body)).toBe(200);
  seen.now = Date.parse(body.now);
}

async function expectInOrder(seen: Seen, { double }: Ground): Promise<void> {
  const invariants = await double().sim("GET", "/invariants");
  expect(invariants.body).toMatchObject({ ok: true, violations: [] });
  for (const id of seen.projects) {
    const { status, body } = await askFor(double(), "listProjectBranches", `/projects/${id}/branches`);
    if (status === 200) expectFamily(body.branches, seen.now);
  }
}

/** D: every parent can be seen; who expires has no children, no protection and no designation, and is gone when that is over. */
function expectFamily(branches: readonly Branch[], now: number): void {
  const byId = new Map(branches.map((branch) => [branch.id, branch]));
  expect(branches.filter((branch) => branch.default)).toHaveLength(1);
  for (const branch of branches) {
    expect(branch).not.toHaveProperty("recovery");
    if (branch.expires_at !== undefined) {
      expect(branch, "what expires").toMatchObject({ default: false, protected: false });
      expect(Date.parse(branch.expires_at), `the end of ${branch.id}`).toBeGreaterThan(now - SECOND);
    }
    if (branch.parent_id === undefined) continue;
    const parent = byId.get(branch.parent_id);
    expect(parent, `the parent of ${branch.id}`).toBeDefined();
    expect(parent, `the parent of ${branch.id}`).not.toHaveProperty("expires_at");
    const line = new Set([branch.id]);
    for (let at = parent; at !== undefined; at = byId.get(at.parent_id ?? "")) {
      expect(line, `the ancestors of ${branch.id}`).not.toContain(at.id);
      line.add(at.id);
    }
  }
}

function pick<T>(list: readonly T[], index: number): T | undefined {
  return list[index % Math.max(1, list.length)];
}

function branchAt({ branches }: Place, index: number): string {
  return pick(branches, index)?.id ?? NOWHERE;
}

function iso(at: number): string {
  return new Date(at).toISOString();
}

function query(fields: Readonly<Record<string, string | undefined>>): string {
  const given = Object.entries(fields).flatMap(([name, value]) => (value === undefined ? [] : [`${name}=${encodeURIComponent(value)}`]));
  return given.length === 0 ? "" : `?${given.join("&")}`;
}

const index = fc.nat(30);
const branchName = fc.constantFrom(undefined, undefined, "main", "dev", "old", "main_old");
const postgresName = fc.constantFrom("alice", "bob", "neondb_owner", "shop", "neondb");
/** How long from now something is to live. */
const livesMs = fc.constantFrom(undefined, undefined, undefined, 1, 20 * SECOND, HOUR, 3 * DAY, 29 * DAY);
/** How long ago. */
const agoMs = fc.constantFrom(undefined, undefined, 0, 1, 30 * SECOND, HOUR, 20 * HOUR);
const after = (now: number, ms: number | undefined | null) => (typeof ms === "number" ? iso(now + ms) : (ms ?? undefined));
const before = (now: number, ms: number | undefined) => (ms === undefined ? undefined : iso(now - ms));
const told = (what: string) => (fields: object) => `${what} ${JSON.stringify(fields)}`;

const createBranch = stepIn(
  {
    parent: index,
    name: branchName,
    types: fc.constantFrom<readonly string[]>([], ["read_write"], ["read_write"], ["read_write", "read_only"]),
    isProtected: fc.constantFrom(false, false, false, true),
    livesMs,
    agoMs,
    init: fc.constantFrom("parent-data", "parent-data", "parent-data", "schema-only"),
  },
  told("create a branch"),
  async ({ parent, name, types, isProtected, livesMs, agoMs, init }, place) => {
    const branch = {
      ...{ name, parent_id: branchAt(place, parent), protected: isProtected, init_source: init },
      ...{ expires_at: after(place.now, livesMs), parent_timestamp: before(place.now, agoMs) },
    };
    await place.ask("createProjectBranch", "/branches", { branch, endpoints: types.map((type) => ({ type })) });
  },
);

const updateBranch = stepIn(
  {
    of: index,
    name: branchName,
    isProtected: fc.constantFrom(undefined, undefined, true, false, false),
    livesMs: fc.oneof({ weight: 5, arbitrary: livesMs }, { weight: 1, arbitrary: fc.constant(null) }),
  },
  told("change a branch"),
  async ({ of, name, isProtected, livesMs }, place) => {
    const branch = { name, protected: isProtected, expires_at: livesMs === null ? null : after(place.now, livesMs) };
    await place.ask("updateProjectBranch", `/branches/${branchAt(place, of)}`, { branch });
  },
);

const setDefault = stepIn({ of: index }, told("make a branch the default"), async ({ of }, place) => {
  await place.ask("setDefaultProjectBranch", `/branches/${branchAt(place, of)}/set_as_default`);
});

const deleteBranch = stepIn(
  { of: index, hard: fc.constantFrom(undefined, undefined, "true") },
  told("delete a branch"),
  async (fields, place) => {
    await place.ask("deleteProjectBranch", `/branches/${branchAt(place, fields.of)}${query({ hard_delete: fields.hard })}`);
  },
);

/** Who was deleted, in most cases. */
const recoverBranch = stepIn(
  { of: index, any: fc.constantFrom(false, false, false, true) },
  told("recover a branch"),
  async ({ of, any }, place) => {
    const deleted = place.branches.filter(({ recovery }) => any || recovery !== undefined);
    await place.ask("recoverProjectBranch", `/branches/${pick(deleted, of)?.id ?? NOWHERE}/recover`);
  },
);

const restoreBranch = stepIn(
  { of: index, from: fc.oneof(index, fc.constantFrom("itself", "its parent")), preserve: branchName, agoMs },
  told("restore a branch"),
  async ({ of, from, preserve, agoMs }, place) => {
    const branch = pick(place.branches, of);
    const id = branch?.id ?? NOWHERE;
    const source = from === "itself" ? id : from === "its parent" ? branch?.parent_id : branchAt(place, Number(from));
    await place.ask("restoreProjectBranch", `/branches/${id}/restore`, {
      source_branch_id: source ?? NOWHERE,
      source_timestamp: before(place.now, agoMs),
      preserve_under_name: preserve,
    });
  },
);

const createCompute = stepIn(
  { on: index, type: fc.constantFrom("read_write", "read_only") },
  told("create a compute"),
  async ({ on, type }, place) => {
    await place.ask("createProjectEndpoint", "/endpoints", { endpoint: { branch_id: branchAt(place, on), type } });
  },
);

const commandCompute = stepIn(
  { of: index, what: fc.constantFrom("start", "suspend", "restart") },
  told("command a compute"),
  async ({ of, what }, place) => {
    const id = pick(place.endpoints, of);
    if (id !== undefined) await place.ask(`${what}ProjectEndpoint`, `/endpoints/${id}/${what}`);
  },
);

const changeCompute = stepIn(
  { of: index, to: fc.option(index, { nil: undefined, freq: 2 }), disabled: fc.constantFrom(undefined, undefined, true, false, false) },
  told("change a compute"),
  async ({ of, to, disabled }, place) => {
    const id = pick(place.endpoints, of);
    const endpoint = { disabled, ...(to === undefined ? {} : { branch_id: branchAt(place, to) }) };
    if (id !== undefined) await place.ask("updateProjectEndpoint", `/endpoints/${id}`, { endpoint });
  },
);

const deleteCompute = stepIn({ of: index }, told("delete a compute"), async ({ of }, place) => {
  const id = pick(place.endpoints, of);
  if (id !== undefined) await place.ask("deleteProjectEndpoint", `/endpoints/${id}`);
});

const changeRole = stepIn(
  { of: index, name: postgresName, what: fc.constantFrom("create", "create", "createGroup", "delete", "reset") },
  told("change a role"),
  async ({ of, name, what }, place) => {
    const path = `/branches/${branchAt(place, of)}/roles`;
    if (what === "delete") await place.ask("deleteProjectBranchRole", `${path}/${name}`);
    else if (what === "reset") await place.ask("resetProjectBranchRolePassword", `${path}/${name}/reset_password`);
    else await place.ask("createProjectBranchRole", path, { role: { name, no_login: what === "createGroup" } });
  },
);

const changeDatabase = stepIn(
  { of: index, name: postgresName, other: postgresName, what: fc.constantFrom("create", "create", "rename", "give", "delete") },
  told("change a database"),
  async ({ of, name, other, what }, place) => {
    const path = `/branches/${branchAt(place, of)}/databases`;
    if (what === "delete") await place.ask("deleteProjectBranchDatabase", `${path}/${name}`);
    else if (what === "create") await place.ask("createProjectBranchDatabase", path, { database: { name, owner_name: other } });
    else
      await place.ask("updateProjectBranchDatabase", `${path}/${name}`, {
        database: what === "give" ? { owner_name: other } : { name: other },
      });
  },
);

const readBranch = stepIn(
  { of: index, base: index, name: postgresName, agoMs },
  told("read of a branch"),
  async ({ of, base, name, agoMs }, place) => {
    const path = `/branches/${branchAt(place, of)}`;
    const at = { db_name: name, timestamp: before(place.now, agoMs) };
    await place.ask("getProjectBranch", path);
    await place.ask("getProjectBranchSchema", `${path}/schema${query(at)}`);
    await place.ask("getProjectBranchSchemaComparison", `${path}/compare_schema${query({ ...at, base_branch_id: branchAt(place, base) })}`);
    await place.ask("listProjectBranchRoles", `${path}/roles`);
    await place.ask("listProjectBranchDatabases", `${path}/databases`);
    await place.ask("listProjectBranchEndpoints", `${path}/endpoints`);
    await place.ask("getSnapshotSchedule", `${path}/backup_schedule`);
    await place.ask("listProjectOperations", "/operations");
  },
);

const takeSnapshot = stepIn({ of: index, livesMs, agoMs }, told("take a snapshot"), async ({ of, livesMs, agoMs }, place, seen) => {
  const asked = query({ expires_at: after(place.now, livesMs), timestamp: before(place.now, agoMs) });
  const { status, body } = await place.ask("createSnapshot", `/branches/${branchAt(place, of)}/snapshot${asked}`);
  if (status === 200) seen.snapshots.push({ id: body.snapshot.id, projectId: place.projectId });
});

const restoreSnapshot = stepIn(
  { of: index, name: branchName, into: fc.option(index, { nil: undefined, freq: 2 }), finalize: fc.boolean() },
  told("restore a snapshot"),
  async ({ of, name, into, finalize }, place, seen) => {
    const { body: listed } = await place.ask("listSnapshots", "/snapshots");
    const id = pick<{ id: string }>(listed.snapshots ?? [], of)?.id ?? pick(seen.snapshots, of)?.id;
    if (id === undefined) return;
    const target_branch_id = into === undefined ? undefined : branchAt(place, into);
    await place.ask("restoreSnapshot", `/snapshots/${id}/restore`, { name, target_branch_id, finalize_restore: finalize });
  },
);

/** A restored branch, in most cases. */
const finalizeRestore = stepIn({ of: index, name: branchName }, told("finalize a restore"), async ({ of, name }, place) => {
  const restored = place.branches.filter((branch) => "restore_status" in branch);
  const id = pick(restored, of)?.id ?? branchAt(place, of);
  await place.ask("finalizeRestoreBranch", `/branches/${id}/finalize_restore`, { name });
});

const changeSnapshot = stepIn({ of: index, deletes: fc.boolean() }, told("change a snapshot"), async ({ of, deletes }, { ask }, seen) => {
  const id = pick(seen.snapshots, of)?.id;
  if (id === undefined) return;
  if (deletes) await ask("deleteSnapshot", `/snapshots/${id}`);
  else await ask("updateSnapshot", `/snapshots/${id}`, { snapshot: { name: "renamed" } });
});

const scheduleItem = fc.record({
  frequency: fc.constantFrom("daily", "daily", "weekly", "monthly", "yearly", "hourly"),
  hour: fc.constantFrom(0, 3, 23),
  day: fc.constantFrom(1, 3, 7),
  month: fc.constantFrom(1, 2, 12),
  retention_seconds: fc.constantFrom(3_600, 90_000),
});

const setSchedule = stepIn(
  { of: index, schedule: fc.array(scheduleItem, { maxLength: 2 }) },
  told("schedule snapshots"),
  async ({ of, schedule }, place) => {
    await place.ask("setSnapshotSchedule", `/branches/${branchAt(place, of)}/backup_schedule`, { schedule });
  },
);

const changeProject = stepIn(
  { history_retention_seconds: fc.constantFrom(undefined, undefined, 0, 3_600, 604_800), name: fc.constantFrom("one", "other") },
  told("change the project"),
  async (project, { ask }) => {
    await ask("updateProject", "", { project });
  },
);

const deleteProject = stepIn({}, told("delete the project"), async (_, { ask }) => {
  await ask("deleteProject", "");
});

const recoverProject: fc.Arbitrary<Step> = fc.nat(3).map((index) =>
  step(`recover deleted project ${index}`, async (seen, { double }) => {
    const { body } = await askFor(double(), "listProjects", "/projects?recoverable=true&limit=400");
    const id = pick<{ id: string }>(body.projects, index)?.id ?? pick(seen.projects, index);
    await askFor(double(), "recoverProject", `/projects/${id}/recover`);
  }),
);

const createProject: fc.Arbitrary<Step> = fc.constant(
  step("create a project", async (seen, ground) => {
    if (seen.projects.length < 3) await foundProject(seen, ground);
  }),
);

async function foundProject(seen: Seen, { double }: Ground): Promise<void> {
  const { status, body } = await askFor(double(), "createProject", "/projects", { project: {} });
  expect(status).toBe(201);
  seen.projects.push(body.project.id);
}

const tellActivity = stepIn(
  {
    of: index,
    kind: fc.constantFrom("query", "query", "connect", "transaction"),
    lasts: fc.constantFrom(0, 5_000, HOUR),
    ahead: fc.constantFrom(0, 1_000, DAY),
  },
  told("activity"),
  async ({ of, kind, lasts, ahead }, { endpoints, now, act }) => {
    const endpoint_id = pick(endpoints, of);
    if (endpoint_id === undefined) return;
    const at = ahead === 0 ? undefined : iso(now + ahead);
    expect((await act({ endpoint_id, kind, duration_ms: lasts, at })).status).toBe(200);
  },
);

const jump = fc.oneof(
  fc.constantFrom(1, SECOND, 10 * SECOND, 300 * SECOND, HOUR, DAY, 3 * DAY, 7 * DAY - 1, 7 * DAY, 7 * DAY + 1),
  fc.integer({ min: 1, max: 9 * DAY }),
);
const advanceBy: fc.Arbitrary<Step> = jump.map((by) => step(`advance by ${by} ms`, (seen, ground) => advance(seen, ground, { by })));
const advanceToNext: fc.Arbitrary<Step> = fc.constant(
  step("advance to what is due next", (seen, ground) => advance(seen, ground, { next: true })),
);

/** The world is closed, and opened again from its file. */
const reopen: fc.Arbitrary<Step> = fc.constant(
  step("close the world and open it again", async (_, ground) => {
    const look = async (path: string) => (await ground.double().sim("GET", path)).body;
    const before = [await look("/state"), await look("/clock")];
    await ground.reopen?.();
    expect([await look("/state"), await look("/clock")]).toEqual(before);
  }),
);

const BRANCHES = [
  createBranch,
  createBranch,
  createBranch,
  updateBranch,
  setDefault,
  deleteBranch,
  deleteBranch,
  recoverBranch,
  restoreBranch,
];
const SNAPSHOTS = [takeSnapshot, restoreSnapshot, restoreSnapshot, finalizeRestore, finalizeRestore, changeSnapshot, setSchedule];
const CONTENT = [changeRole, changeRole, changeDatabase, changeDatabase, readBranch];
const COMPUTES = [createCompute, commandCompute, changeCompute, deleteCompute, tellActivity, tellActivity];
const PROJECTS = [changeProject, deleteProject, recoverProject, recoverProject, createProject];
const TIME = [advanceBy, advanceBy, advanceToNext];
const STEPS = [...BRANCHES, ...BRANCHES, ...BRANCHES, ...SNAPSHOTS, ...SNAPSHOTS, ...CONTENT, ...COMPUTES, ...PROJECTS, ...TIME, ...TIME];

export function walks({ maxSteps = 100, restarts = false } = {}) {
  return fc.commands([...STEPS, ...(restarts ? [reopen, reopen] : [])], { maxCommands: maxSteps, size: "max", ...REPLAY_PATH });
}

/** A line of branches, and a snapshot of the first. */
async function furnish(seen: Seen, ground: Ground): Promise<void> {
  await advance(seen, ground, { by: 10 * SECOND });
  for (const name of ["dev", "test"]) {
    const { ask, branches, projectId } = await placeOf(seen.projects[0] ?? "", seen, ground);
    await ask("createProjectBranch", "/branches", {
      branch: { name, parent_id: branches.at(-1)?.id },
      endpoints: [{ type: "read_write" }],
    });
    const { body } = await ask("createSnapshot", `/branches/${branches[0]?.id}/snapshot`);
    seen.snapshots.push({ id: body.snapshot.id, projectId });
    await advance(seen, ground, { by: 10 * SECOND });
  }
}

/** Walks through a world from where there is one project in it, with something in it already. */
export async function walk(steps: Iterable<Step>, ground: Ground): Promise<void> {
  const seen: Seen = { projects: [], snapshots: [], now: 0 };
  await foundProject(seen, ground);
  await furnish(seen, ground);
  await fc.asyncModelRun(() => ({ model: seen, real: ground }), steps);
}
