import { drawUuid } from "../../../kernel/ids.ts";
import type { SimTime } from "../../../kernel/time.ts";
import type { Context } from "../../model/context.ts";
import type { Event } from "../../model/events.ts";
import type { RecordEvent } from "../../model/settings-record.ts";
import {
  type SettingsRecord,
  type SettingsRecordFields,
  type SettingsRecordKind,
  type SettingsRecordOf,
  scopeOf,
} from "../../model/settings-record.ts";
import type { Evolvers } from "../../world/handlers.ts";
import { nextNumber, type World } from "../../world/world.ts";

/** The records of a kind in a project, on a branch or in an organization, oldest first. */
export function recordsOf<K extends SettingsRecordKind>(
  world: World,
  scope: string,
  kind: K,
): SettingsRecordOf<K>[] {
  return world.records
    .by("scope", scope)
    .toArray()
    .filter((row) => isOfKind(row, kind));
}

export function findRecord<K extends SettingsRecordKind>(
  world: World,
  scope: string,
  kind: K,
  id: string,
): SettingsRecordOf<K> | undefined {
  const row = world.records.get(id);
  return row !== undefined && row.scope === scope && isOfKind(row, kind) ? row : undefined;
}

export function isOfKind<K extends SettingsRecordKind>(
  row: SettingsRecord,
  kind: K,
): row is SettingsRecordOf<K> {
  return row.kind === kind;
}

type RecordCreated = Extract<Event, { readonly type: "RecordCreated" }>;

/** A new record. `offset`: records that the same decision creates before it. */
export function recordCreated<K extends SettingsRecordKind>(
  world: World,
  { now, random }: Context,
  scope: string,
  kind: K,
  fields: SettingsRecordFields[K],
  offset = 0,
): RecordCreated {
  const number = nextNumber(world, "record", offset);
  const record = {
    id: drawUuid(random, "record-id", number),
    number,
    kind,
    scope,
    fields,
    createdAt: now,
    updatedAt: now,
  };
  return { type: "RecordCreated", at: now, record: record as SettingsRecord };
}

export function recordUpdated<K extends SettingsRecordKind>(
  record: SettingsRecordOf<K>,
  fields: SettingsRecordFields[K],
  at: SimTime,
): Event {
  return { type: "RecordUpdated", at, recordId: record.id, fields };
}

export function recordDeleted({ id }: SettingsRecord, at: SimTime): Event {
  return { type: "RecordDeleted", at, recordId: id };
}

export const recordEvolvers = {
  RecordCreated(world, { record }) {
    world.numbers.record = record.number;
    world.records.set(record);
  },
  RecordUpdated(world, event) {
    const record = recordOf(world, event);
    world.records.set({ ...record, fields: event.fields, updatedAt: event.at } as SettingsRecord);
  },
  RecordDeleted(world, event) {
    world.records.delete(recordOf(world, event).id);
  },
} satisfies Evolvers<RecordEvent>;

function recordOf(
  world: World,
  { type, recordId }: Exclude<RecordEvent, { type: "RecordCreated" }>,
): SettingsRecord {
  const record = world.records.get(recordId);
  if (record === undefined) throw new Error(`${type}: there is no record ${recordId}`);
  return record;
}

/**
 * For a project that is removed: deletes its records, and revokes keys that give access to this project only.
 */
export function deleteProjectRecords(world: World, projectId: string, at: SimTime): void {
  deleteRecordsOf(world, projectId, "project");
  for (const apiKey of world.apiKeys.by("project", projectId).toArray()) {
    if (apiKey.revokedAt === undefined) world.apiKeys.set({ ...apiKey, revokedAt: at });
  }
}

/** A branch and a project can have the same id, if callers chose it. */
function deleteRecordsOf(world: World, scope: string, kindOfScope: ReturnType<typeof scopeOf>): void {
  for (const record of world.records.by("scope", scope).toArray()) {
    if (scopeOf(record) === kindOfScope) world.records.delete(record.id);
  }
}

/** For a branch that is removed: deletes its records, and the JWKS that apply to this branch only. */
export function deleteBranchRecords(world: World, branchId: string): void {
  deleteRecordsOf(world, branchId, "branch");
  const projectId = world.branches.get(branchId)?.projectId;
  if (projectId === undefined) return;
  for (const jwks of recordsOf(world, projectId, "jwks")) {
    if (jwks.fields.branchId === branchId) world.records.delete(jwks.id);
  }
}

/**
 * For a reset: records of organizations stay, as accounts and keys do; otherwise members would lose their
 * access.
 */
export function deleteAllProjectRecords(world: World): void {
  for (const record of [...world.records.values()]) {
    if (scopeOf(record) !== "organization") world.records.delete(record.id);
  }
}

/** For a reset: keys to a single project end with the projects. */
export function revokeProjectKeys(world: World, at: SimTime): void {
  for (const apiKey of [...world.apiKeys.values()]) {
    if (apiKey.scope?.projectId !== undefined && apiKey.revokedAt === undefined)
      world.apiKeys.set({ ...apiKey, revokedAt: at });
  }
}
