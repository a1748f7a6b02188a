import * as z from "zod";
import { SECRET_PATTERN, SECRET_RULE } from "../../platform/account/api-key.ts";
import { rolesNamedAfter } from "../../platform/branch/role.ts";
import type { Command } from "../../platform/commands.ts";
import { fitsPostgres } from "../../platform/core/text.ts";
import type { SimTime } from "../../platform/core/time.ts";
import type { World } from "../../platform/core/world.ts";
import type { RecordedEvent } from "../../platform/events.ts";
import type { Result } from "../../platform/refusals.ts";
import { object } from "../../traffic/fields.ts";
import { formatProblems, SourceDocument } from "./yaml-document.ts";

const id = z.string().regex(/^[a-z0-9-]{1,60}$/, "must be 1 to 60 of a-z, 0-9 and -");
const name = z.string().min(1).max(256);

const compute = object({
  id: id.refine((text) => text.startsWith("ep-"), "must begin with ep-"),
  type: z.enum(["read_write", "read_only"]).default("read_write"),
  name: z.string().min(1).max(64).optional(),
  autoscaling_limit_min_cu: z.number().optional(),
  autoscaling_limit_max_cu: z.number().optional(),
  suspend_timeout_seconds: z.int().optional(),
  disabled: z.boolean().optional(),
});

const branch = object({
  id: id.refine((text) => text.startsWith("br-"), "must begin with br-"),
  name,
  /** Id of a branch above this one in the file; the default branch where there is none. */
  parent: id.optional(),
  protected: z.boolean().optional(),
  endpoints: z.array(compute).default([]),
});

const postgresName = z.string().min(1).refine(fitsPostgres, "must be at most 63 bytes long");

const project = object({
  id,
  name: name.optional(),
  region_id: z.string().optional(),
  pg_version: z.int().min(14).max(18).optional(),
  database: postgresName.optional(),
  role: postgresName.optional(),
  /** The first one is the default branch. */
  branches: z.array(branch).default([]),
});

const account = object({
  id,
  name: name.optional(),
  email: z.email().optional(),
  plan: z.enum(["paid", "free"]).optional(),
  keys: z
    .array(
      object({
        name: z.string().min(1).max(64),
        key: z.string().regex(SECRET_PATTERN, SECRET_RULE),
      }),
    )
    .default([]),
  projects: z.array(project).default([]),
});

const worldFile = object({ version: z.literal(1), accounts: z.array(account).min(1) });

/** What a world file lays out: accounts with their keys, projects, branches and computes, all under ids of its own choice. */
export type WorldFile = z.output<typeof worldFile>;
type AccountLayout = WorldFile["accounts"][number];
type ProjectLayout = AccountLayout["projects"][number];
type BranchLayout = ProjectLayout["branches"][number];
type ComputeLayout = BranchLayout["endpoints"][number];

/** The file cannot be read: every problem with its line and column. */
export class WorldFileError extends Error {
  override readonly name = "WorldFileError";
}

/** Reads a world file in YAML (or JSON, which is YAML). */
export function parseWorldFile(text: string, fileName: string): WorldFile {
  const source = new SourceDocument(text);
  if (source.problems.length > 0) throw new WorldFileError(formatProblems(fileName, source.problems));
  const parsed = worldFile.superRefine(findContradictions).safeParse(source.value);
  if (parsed.success) return parsed.data;
  throw new WorldFileError(formatProblems(fileName, source.problemsOf(parsed.error)));
}

/** What each line may say and the file as a whole may not: the same id or key twice, a parent that is not above its branch. */
function findContradictions(file: WorldFile, context: z.RefinementCtx): void {
  const seen = new Set<string>();
  const once = (kind: string, id: string, path: (string | number)[]) => {
    // A key is a secret: it is not said again.
    const what = kind === "key" ? "key" : `${kind} "${id}"`;
    if (seen.has(`${kind} ${id}`)) context.addIssue({ code: "custom", path, message: `this ${what} is in this file already` });
    seen.add(`${kind} ${id}`);
  };
  for (const [a, { id: accountId, keys, projects }] of file.accounts.entries()) {
    once("account", accountId, ["accounts", a, "id"]);
    for (const [k, { key }] of keys.entries()) once("key", key, ["accounts", a, "keys", k, "key"]);
    for (const [p, { id: projectId, branches }] of projects.entries()) {
      const path = ["accounts", a, "projects", p];
      once("project", projectId, [...path, "id"]);
      const above = new Set<string>();
      for (const [b, { id: branchId, parent, endpoints }] of branches.entries()) {
        once("branch", branchId, [...path, "branches", b, "id"]);
        if (parent !== undefined && !above.has(parent)) {
          context.addIssue({
            code: "custom",
            path: [...path, "branches", b, "parent"],
            message: `there is no branch "${parent}" above this one in its project`,
          });
        }
        above.add(branchId);
        for (const [e, endpoint] of endpoints.entries()) once("endpoint", endpoint.id, [...path, "branches", b, "endpoints", e, "id"]);
      }
    }
  }
}

/** What laying out needs of a world, in one turn of it. */
export type LayoutStage = {
  readonly world: World;
  execute(command: Command): Result<readonly RecordedEvent[]>;
  keepSecret(id: string, value: string): void;
  readonly newPassword: () => string;
  readonly hashSecret: (secret: string) => string;
};

/**
 * Makes what the file lays out and the world does not have; what is there stays as it has become. Nobody waits for a layout:
 * its operations are over when it is. Throws, with the place in the file, where the rules refuse.
 */
export function layOut(file: WorldFile, stage: LayoutStage): void {
  const { operations } = stage.world.settings;
  const commands: Give = (command, what) => {
    const result = stage.execute(command);
    if (!result.ok) throw new WorldFileError(`${what}: ${result.refusal.message}`);
    return result.value;
  };
  let hasBegun = false;
  const give: Give = (command, what) => {
    if (!hasBegun && operations !== "immediate") commands({ type: "ConfigureWorld", settings: { operations: "immediate" } }, "operations");
    hasBegun = true;
    return commands(command, what);
  };
  for (const accountLayout of file.accounts) layOutAccount(accountLayout, stage, give);
  if (hasBegun && operations !== "immediate") commands({ type: "ConfigureWorld", settings: { operations } }, "operations");
}

type Give = (command: Command, what: string) => readonly RecordedEvent[];

function layOutAccount(layout: AccountLayout, stage: LayoutStage, give: Give): void {
  const { world, hashSecret } = stage;
  const what = `account ${layout.id}`;
  if (world.accounts.get(layout.id) === undefined) {
    give({ type: "CreateAccount", id: layout.id, name: layout.name ?? layout.id, email: layout.email, plan: layout.plan }, what);
  }
  for (const { name: keyName, key } of layout.keys) {
    const hash = hashSecret(key);
    const [known] = world.apiKeys.by("hash", hash).toArray();
    if (known !== undefined && known.accountId !== layout.id)
      throw new WorldFileError(`${what}, key ${keyName}: is the key of another account`);
    if (known !== undefined) continue;
    give({ type: "CreateApiKey", accountId: layout.id, name: keyName, hash }, `${what}, key ${keyName}`);
  }
  for (const projectLayout of layout.projects) layOutProject(layout.id, projectLayout, stage, give);
}

function layOutProject(accountId: string, layout: ProjectLayout, stage: LayoutStage, give: Give): void {
  const { world } = stage;
  const what = `project ${layout.id}`;
  const [first, ...others] = layout.branches;
  const primary = first?.endpoints.find((endpoint) => endpoint.type === "read_write");
  checkOwner(what, world.projects.get(layout.id)?.accountId, accountId);
  if (isRecoverable(world.projects.get(layout.id))) give({ type: "RecoverProject", accountId, projectId: layout.id, queue: true }, what);
  if (world.projects.get(layout.id) === undefined) {
    const events = give(
      {
        type: "CreateProject",
        accountId,
        id: layout.id,
        name: layout.name,
        regionId: layout.region_id,
        pgVersion: layout.pg_version,
        branch: { id: first?.id, name: first?.name, roleName: layout.role, databaseName: layout.database },
        compute: primary === undefined ? undefined : { id: primary.id, ...optionsOf(primary) },
      },
      what,
    );
    keepPasswords(stage, events, 0);
    if (first?.protected === true) {
      give({ type: "UpdateBranch", accountId, projectId: layout.id, branchId: first.id, protected: true }, `${what}, branch ${first.id}`);
    }
  }
  if (first !== undefined) layOutComputes(accountId, layout.id, first, stage, give);
  for (const branchLayout of others) layOutBranch(accountId, layout.id, branchLayout, stage, give);
}

function layOutBranch(accountId: string, projectId: string, layout: BranchLayout, stage: LayoutStage, give: Give): void {
  const what = `project ${projectId}, branch ${layout.id}`;
  const there = stage.world.branches.get(layout.id);
  checkOwner(what, there?.projectId, projectId);
  if (isRecoverable(there)) give({ type: "RecoverBranch", accountId, projectId, branchId: layout.id, queue: true }, what);
  if (there === undefined) {
    const namedBefore = stage.world.numbers.role;
    const events = give(
      {
        type: "CreateBranch",
        accountId,
        projectId,
        id: layout.id,
        name: layout.name,
        parentId: layout.parent,
        protected: layout.protected,
        queue: true,
      },
      what,
    );
    keepPasswords(stage, events, namedBefore);
  }
  layOutComputes(accountId, projectId, layout, stage, give);
}

function layOutComputes(accountId: string, projectId: string, layout: BranchLayout, stage: LayoutStage, give: Give): void {
  for (const endpoint of layout.endpoints) {
    const what = `project ${projectId}, branch ${layout.id}, endpoint ${endpoint.id}`;
    checkOwner(what, stage.world.computes.get(endpoint.id)?.projectId, projectId);
    if (stage.world.computes.get(endpoint.id) !== undefined) continue;
    give(
      {
        type: "CreateCompute",
        accountId,
        projectId,
        id: endpoint.id,
        branchId: layout.id,
        computeType: endpoint.type,
        options: optionsOf(endpoint),
        queue: true,
      },
      what,
    );
  }
}

function keepPasswords(stage: LayoutStage, events: readonly RecordedEvent[], namedBefore: number): void {
  for (const event of events) {
    if (event.type !== "BranchCreated") continue;
    for (const role of rolesNamedAfter(event.branch.roles, namedBefore)) stage.keepSecret(role.secretId, stage.newPassword());
  }
}

function isRecoverable(there: { readonly recoverableUntil?: SimTime } | undefined): boolean {
  return there?.recoverableUntil !== undefined;
}

/** An id that is taken elsewhere would be laid out nowhere. */
function checkOwner(what: string, owner: string | undefined, expected: string): void {
  if (owner !== undefined && owner !== expected) throw new WorldFileError(`${what}: the id belongs to ${owner} in this world`);
}

function optionsOf(layout: ComputeLayout) {
  return {
    name: layout.name,
    minCu: layout.autoscaling_limit_min_cu,
    maxCu: layout.autoscaling_limit_max_cu,
    suspendTimeoutSeconds: layout.suspend_timeout_seconds,
    disabled: layout.disabled,
  };
}
