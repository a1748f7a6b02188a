import type { SimTime } from "../../kernel/time.ts";
import type { Result } from "../../platform/catalog/refusal-codes.ts";
import type { RecordedEvent } from "../../platform/model/events.ts";
import { isRevokedHash } from "../../platform/rules/account/decide-api-key.ts";
import { rolesWithSecretAfter } from "../../platform/rules/branch/role.ts";
import type { Command } from "../../platform/rules/commands.ts";
import type { World } from "../../platform/world/world.ts";
import {
  type SeedAccount,
  type SeedBranch,
  type SeedCompute,
  type SeedFile,
  SeedFileError,
  type SeedProject,
} from "./seed-schema.ts";

/** Functions of a world that seeding needs, within one transaction. */
export type SeedTarget = {
  readonly world: World;
  execute(command: Command): Result<readonly RecordedEvent[]>;
  storeSecret(id: string, value: string): void;
  readonly newPassword: () => string;
  readonly hashSecret: (secret: string) => string;
};

/**
 * Creates the resources of the file that the world lacks; existing resources stay unchanged, and revoked keys
 * stay invalid. All operations finish immediately. Throws a `SeedFileError` that names the resource when a command is rejected.
 */
export function applySeedFile(file: SeedFile, target: SeedTarget): void {
  const { operations } = target.world.settings;
  const executeOrThrow: ExecuteCommand = (command, what) => {
    const result = target.execute(command);
    if (!result.ok) throw new SeedFileError(`${what}: ${result.refusal.message}`);
    return result.value;
  };
  let hasStarted = false;
  const execute: ExecuteCommand = (command, what) => {
    if (!hasStarted && operations !== "immediate")
      executeOrThrow({ type: "ConfigureWorld", settings: { operations: "immediate" } }, "operations");
    hasStarted = true;
    return executeOrThrow(command, what);
  };
  for (const accountSeed of file.accounts) seedAccount(accountSeed, target, execute);
  if (hasStarted && operations !== "immediate")
    executeOrThrow({ type: "ConfigureWorld", settings: { operations } }, "operations");
}

type ExecuteCommand = (command: Command, what: string) => readonly RecordedEvent[];

function seedAccount(seed: SeedAccount, target: SeedTarget, execute: ExecuteCommand): void {
  const { world, hashSecret } = target;
  const what = `account ${seed.id}`;
  if (world.accounts.get(seed.id) === undefined) {
    execute(
      { type: "CreateAccount", id: seed.id, name: seed.name ?? seed.id, email: seed.email, plan: seed.plan },
      what,
    );
  }
  for (const { name: keyName, key } of seed.keys) {
    const hash = hashSecret(key);
    if (isRevokedHash(world, hash)) continue;
    const [known] = world.apiKeys.by("hash", hash).toArray();
    if (known !== undefined && known.accountId !== seed.id)
      throw new SeedFileError(`${what}, key ${keyName}: another account in this world already has this key`);
    if (known !== undefined) continue;
    execute({ type: "CreateApiKey", accountId: seed.id, name: keyName, hash }, `${what}, key ${keyName}`);
  }
  for (const projectSeed of seed.projects) seedProject(seed.id, projectSeed, target, execute);
}

function seedProject(
  accountId: string,
  seed: SeedProject,
  target: SeedTarget,
  execute: ExecuteCommand,
): void {
  const { world } = target;
  const what = `project ${seed.id}`;
  const [first, ...others] = seed.branches;
  const primary = first?.endpoints.find((endpoint) => endpoint.type === "read_write");
  checkOwner(what, world.projects.get(seed.id)?.accountId, accountId);
  if (isRecoverable(world.projects.get(seed.id)))
    execute({ type: "RecoverProject", accountId, projectId: seed.id }, what);
  if (world.projects.get(seed.id) === undefined) {
    const events = execute(
      {
        type: "CreateProject",
        accountId,
        id: seed.id,
        name: seed.name,
        regionId: seed.region_id,
        pgVersion: seed.pg_version,
        branch: { id: first?.id, name: first?.name, roleName: seed.role, databaseName: seed.database },
        compute: primary === undefined ? undefined : { id: primary.id, ...computeOptions(primary) },
      },
      what,
    );
    storePasswords(target, events, 0);
    if (first?.protected === true) {
      execute(
        { type: "UpdateBranch", accountId, projectId: seed.id, branchId: first.id, protected: true },
        `${what}, branch ${first.id}`,
      );
    }
  }
  if (first !== undefined) seedComputes(accountId, seed.id, first, target, execute);
  for (const branchSeed of others) seedBranch(accountId, seed.id, branchSeed, target, execute);
}

function seedBranch(
  accountId: string,
  projectId: string,
  seed: SeedBranch,
  target: SeedTarget,
  execute: ExecuteCommand,
): void {
  const what = `project ${projectId}, branch ${seed.id}`;
  const existing = target.world.branches.get(seed.id);
  checkOwner(what, existing?.projectId, projectId);
  if (isRecoverable(existing))
    execute({ type: "RecoverBranch", accountId, projectId, branchId: seed.id, queue: true }, what);
  if (existing === undefined) {
    const roleNumberBefore = target.world.numbers.role;
    const events = execute(
      {
        type: "CreateBranch",
        accountId,
        projectId,
        id: seed.id,
        name: seed.name,
        parentId: seed.parent,
        protected: seed.protected,
        queue: true,
      },
      what,
    );
    storePasswords(target, events, roleNumberBefore);
  }
  seedComputes(accountId, projectId, seed, target, execute);
}

function seedComputes(
  accountId: string,
  projectId: string,
  seed: SeedBranch,
  target: SeedTarget,
  execute: ExecuteCommand,
): void {
  for (const endpoint of seed.endpoints) {
    const what = `project ${projectId}, branch ${seed.id}, endpoint ${endpoint.id}`;
    checkOwner(what, target.world.computes.get(endpoint.id)?.projectId, projectId);
    if (target.world.computes.get(endpoint.id) !== undefined) continue;
    execute(
      {
        type: "CreateCompute",
        accountId,
        projectId,
        id: endpoint.id,
        branchId: seed.id,
        computeType: endpoint.type,
        options: computeOptions(endpoint),
        queue: true,
      },
      what,
    );
  }
}

function storePasswords(
  target: SeedTarget,
  events: readonly RecordedEvent[],
  roleNumberBefore: number,
): void {
  for (const event of events) {
    if (event.type !== "BranchCreated") continue;
    for (const role of rolesWithSecretAfter(event.branch.roles, roleNumberBefore))
      target.storeSecret(role.secretId, target.newPassword());
  }
}

function isRecoverable(existing: { readonly recoverableUntil?: SimTime } | undefined): boolean {
  return existing?.recoverableUntil !== undefined;
}

/** Rejects an id that another parent already uses. */
function checkOwner(what: string, owner: string | undefined, expected: string): void {
  if (owner !== undefined && owner !== expected)
    throw new SeedFileError(`${what}: in this world the id belongs to ${owner}, not to ${expected}`);
}

function computeOptions(seed: SeedCompute) {
  return {
    name: seed.name,
    minCu: seed.autoscaling_limit_min_cu,
    maxCu: seed.autoscaling_limit_max_cu,
    suspendTimeoutSeconds: seed.suspend_timeout_seconds,
    disabled: seed.disabled,
  };
}
