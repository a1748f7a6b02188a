import type { Change } from "../../kernel/change-set.ts";
import { ALL_ROWS } from "../../kernel/change-set.ts";
import { concernOf, type SettingsRecord, scopeOf } from "../model/settings-record.ts";
import type { TableName } from "./tables.ts";
import type { World } from "./world.ts";

/**
 * The scope whose responses must wait until the changed row is durable: a project, the callers with an API key, or the
 * whole world. `nobody`: no response has to wait.
 */
export type RowOwner = { readonly projectId: string } | { readonly keyId: string } | "world" | "nobody";

type OwnerRule = (world: World, key: string, value: unknown) => RowOwner;

/** For rows with the id of their project. The project of a deleted row is unknown. */
const namedInRow: OwnerRule = (_, __, value) =>
  ownedBy((value as { projectId: string } | undefined)?.projectId);

/** For rows whose key is the id of a branch, a snapshot or a project. */
const namedByKey: OwnerRule = (world, key) => ownedBy(projectWith(world, key));

const OWNER_OF_TABLE: Readonly<Record<TableName, OwnerRule>> = {
  accounts: () => "world",
  apiKeys: (_, keyId) => ({ keyId }),
  projects: (_, projectId) => ({ projectId }),
  branches: namedInRow,
  computes: namedInRow,
  connections: (world, key) => ownedBy(world.computes.get(beforeSlash(key))?.projectId),
  operations: namedInRow,
  scheduledActivities: () => "world",
  usage: namedByKey,
  hourlyUsage: (world, key) => ownedBy(projectWith(world, beforeSlash(key).split("#")[0] ?? "")),
  branchSnapshots: namedInRow,
  records: (world, _, value) => ownerOfRecord(world, value as SettingsRecord | undefined),
  faults: () => "world",
  revokedHashes: () => "world",
  apiKeyUses: () => "nobody",
  // A secret is read through the row that names it, which changes with it.
  secrets: () => "nobody",
  branchData: namedByKey,
};

/** The owner of a changed row; the world if its project is unknown. */
export function ownerOf(world: World, { table, key, value }: Change): RowOwner {
  return key === ALL_ROWS ? "world" : OWNER_OF_TABLE[table as TableName](world, key, value);
}

function ownedBy(projectId: string | undefined): RowOwner {
  return projectId === undefined ? "world" : { projectId };
}

function projectWith(world: World, id: string): string | undefined {
  const child = world.branches.get(id) ?? world.branchSnapshots.get(id);
  return child?.projectId ?? world.projects.get(id)?.id;
}

function ownerOfRecord(world: World, record: SettingsRecord | undefined): RowOwner {
  // What concerns a person changes which projects that person sees.
  if (record === undefined || concernOf(record) !== undefined) return "world";
  const scope = scopeOf(record);
  if (scope === "organization") return "world";
  return ownedBy(scope === "project" ? record.scope : world.branches.get(record.scope)?.projectId);
}

function beforeSlash(key: string): string {
  return key.slice(0, key.indexOf("/"));
}
