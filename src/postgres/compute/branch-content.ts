import {
  largestMaxConnections,
  maxConnections,
  mostWorkerProcesses,
  pgSettingsOf,
} from "../../platform/catalog/sizes.ts";
import type { Role } from "../../platform/model/branch-content.ts";
import { type BlockCounts, cacheCapacity, countBlocks, EMPTY_CACHE } from "../../platform/model/cache.ts";
import type { Compute } from "../../platform/model/compute.ts";
import { originalId } from "../../platform/rules/branch/build-branch.ts";
import { findRole } from "../../platform/rules/branch/role.ts";
import { verifierId } from "../../platform/rules/branch/secret-references.ts";
import { effectiveRange } from "../../platform/rules/compute/open-connections.ts";
import { profileOfWorld, type World } from "../../platform/world/world.ts";
import { formatVerifier, newVerifier, type Verifier } from "../../worlds/scram-verifier.ts";
import type { Transaction } from "../../worlds/world-handle.ts";
import type { Content, ContentRole, LearnedChanges } from "../content/content.ts";
import { isOwnRole, OWN_DATABASES, SPARE_DATABASE } from "../engine/engine.ts";
import { CLIENT_ERRORS, ConnectionRejected } from "../protocol/errors.ts";
import type { FileCacheStatistics } from "../rights/extension.ts";
import type { KnownVerifiers } from "./known-verifiers.ts";
import type { EnginePlan } from "./primary-cluster.ts";

const NO_BLOCKS: BlockCounts = { hits: 0, misses: 0, writes: 0 };

/** `undefined` if the branch has no such role, or if the role cannot log in. */
export function verifierOfRole(
  transaction: Transaction,
  branchId: string,
  roleName: string,
  known: KnownVerifiers,
): Verifier | undefined {
  if (isOwnRole(roleName)) return undefined;
  const branch = transaction.world.branches.get(branchId);
  const role = branch === undefined ? undefined : findRole(branch, roleName);
  if (role?.ok !== true || role.value.noLogin === true) return undefined;
  return known.verifierOf(transaction, role.value, () => storedVerifier(transaction, role.value));
}

/**
 * Identifies a role and a database of a compute's branch. Others that have these names later, and the same role with another
 * password, have another identity.
 */
export function identityOf(world: World, endpointId: string, roleName: string, databaseName: string): string {
  const branch = world.branches.get(world.computes.get(endpointId)?.branchId ?? "");
  const role = branch?.roles.find(({ name }) => name === roleName);
  const database = branch?.databases.find(({ name }) => name === databaseName);
  return `${branch?.id} ${role?.secretId} ${database?.id}`;
}

/** Facts of the world that the engine of a compute needs. */
export function enginePlan(transaction: Transaction, historyId: string, endpointId: string): EnginePlan {
  const { world } = transaction;
  const compute = requireCompute(world.computes.get(endpointId));
  const project = world.projects.get(compute.projectId);
  if (project === undefined) throw new ConnectionRejected(CLIENT_ERRORS.unknownEndpoint);
  const profile = profileOfWorld(world);
  const isReplica = compute.type === "read_only";
  const range = effectiveRange(compute);
  const { pg_settings: chosen = {} } = compute.settings;
  return {
    historyId,
    branchId: compute.branchId,
    data: world.branchData.get(compute.branchId),
    pgVersion: project.pgVersion,
    isReplica,
    now: transaction.now,
    maxConnections: maxConnections(profile, range),
    mostConnections: largestMaxConnections(profile),
    mostWorkers: mostWorkerProcesses(profile),
    settings: (version) => pgSettingsOf(profile, range, chosen, version),
    logicalReplication: project.settings.enable_logical_replication === true,
    content: contentOf(transaction, compute.branchId),
    cacheStatistics: cacheStatisticsOf(world, compute, NO_BLOCKS),
  };
}

/**
 * Reports what SQL has changed to the world, and returns the content that the branch then has, or why the world
 * refuses the changes: an error that is thrown within a transaction would fail its commit.
 */
export function learnContent(
  transaction: Transaction,
  endpointId: string,
  { createdRoles, changedPasswords, ...others }: LearnedChanges,
): Content | Error {
  const { branchId } = requireCompute(transaction.world.computes.get(endpointId));
  const learned = transaction.execute({
    type: "LearnBranchContent",
    branchId,
    createdRoles: createdRoles.map(withLogin),
    changedPasswords: changedPasswords.map(withLogin),
    ...others,
  });
  if (!learned.ok) return new Error(learned.refusal.message);
  const verifiers = new Map(
    [...createdRoles, ...changedPasswords].map(({ name, verifier }) => [name, verifier]),
  );
  for (const event of learned.value) {
    const [name, secretId] =
      event.type === "RoleCreated"
        ? [event.role.name, event.role.secretId]
        : event.type === "RolePasswordReset"
          ? [event.roleName, event.secretId]
          : [];
    if (name === undefined || secretId === undefined) continue;
    const verifier = verifiers.get(name);
    // A reset or restored history may have left a password or a verifier under these ids.
    transaction.deleteSecret(secretId);
    if (verifier === undefined) transaction.deleteSecret(verifierId(secretId));
    else transaction.storeSecret(verifierId(secretId), verifier);
  }
  return contentOf(transaction, branchId);
}

function withLogin({ name, verifier }: ContentRole) {
  return { name, noLogin: verifier === undefined };
}

export function cacheStatisticsOf(
  world: World,
  compute: Compute | undefined,
  unreported: BlockCounts,
): FileCacheStatistics {
  const reported = compute?.phase.state === "active" ? compute.phase.cache : EMPTY_CACHE;
  const { hits, misses, used, writes } = countBlocks(reported, unreported, cacheCapacityOf(world, compute));
  return {
    file_cache_misses: misses,
    file_cache_hits: hits,
    file_cache_used: used,
    file_cache_writes: writes,
  };
}

/** The size of the local file cache of a compute as it runs, in blocks. */
export function cacheCapacityOf(world: World, compute: Compute | undefined): number {
  return compute?.phase.state === "active" ? cacheCapacity(profileOfWorld(world), compute.phase.sizeCu) : 0;
}

function contentOf(transaction: Transaction, branchId: string): Content {
  const branch = transaction.world.branches.get(branchId);
  if (branch === undefined) throw new ConnectionRejected(CLIENT_ERRORS.unknownEndpoint);
  // Earlier releases allowed names that the cluster itself uses.
  const roles = branch.roles.filter(({ name }) => !isOwnRole(name));
  // Clients may have the name of the spare database after that was used.
  const databases = branch.databases.filter(
    ({ name }) => name === SPARE_DATABASE || !OWN_DATABASES.some((own) => own === name),
  );
  return {
    roles: roles.map((role) => ({
      name: role.name,
      verifier: role.noLogin === true ? undefined : (storedVerifier(transaction, role) ?? ""),
    })),
    databases: databases.map((database) => ({
      id: originalId(database),
      name: database.name,
      owner: database.ownerName,
    })),
  };
}

/**
 * The stored verifier of the role's password. If there is none, it is computed and stored now. Undefined without
 * password.
 */
function storedVerifier(transaction: Transaction, { secretId, noLogin }: Role): string | undefined {
  if (noLogin === true) return undefined;
  const stored = transaction.readSecret(verifierId(secretId));
  if (stored !== undefined) return stored;
  const password = transaction.readSecret(secretId);
  if (password === undefined) return undefined;
  const verifier = formatVerifier(newVerifier(password));
  transaction.storeSecret(verifierId(secretId), verifier);
  return verifier;
}

function requireCompute(compute: Compute | undefined): Compute {
  if (compute === undefined) throw new ConnectionRejected(CLIENT_ERRORS.unknownEndpoint);
  return compute;
}
