import { omitUndefined } from "../../../../kernel/omit-undefined.ts";
import { ACCEPTED, accept, type Result, refuse } from "../../../catalog/refusal-codes.ts";
import type { Branch } from "../../../model/branch.ts";
import type { Context } from "../../../model/context.ts";
import type { Event } from "../../../model/events.ts";
import {
  type CreateServiceRecord,
  type DeleteServiceRecords,
  type NewServiceRecord,
  SERVICES,
  type ServiceKind,
  type ServiceRecordCommand,
  type ServiceRecordFields,
  type UpdateServiceRecord,
} from "../../../model/service-record.ts";
import {
  isServiceRecord,
  type ServiceRecord,
  type SettingsRecordOf,
} from "../../../model/settings-record.ts";
import type { Deciders } from "../../../world/handlers.ts";
import { findBranchFor, findDatabase } from "../../../world/lookup.ts";
import type { World } from "../../../world/world.ts";
import { recordCreated, recordDeleted, recordUpdated } from "../../settings/evolve-settings-record.ts";
import { isSameJson } from "../../settings/settings-objects.ts";

export const serviceRecordDeciders = {
  CreateServiceRecord: decideCreateServiceRecord,
  UpdateServiceRecord: decideUpdateServiceRecord,
  DeleteServiceRecords: decideDeleteServiceRecords,
} satisfies Deciders<ServiceRecordCommand>;

function decideCreateServiceRecord(
  world: World,
  command: CreateServiceRecord,
  context: Context,
): Result<Event[]> {
  const branch = findBranchFor(world, command);
  if (!branch.ok) return branch;
  const { record } = command;
  const { kind, key = "", database } = record;
  const found = database === undefined ? ACCEPTED : findDatabase(branch.value, database);
  if (!found.ok) return found;
  const enabled = checkEnabled(world, branch.value, kind);
  if (!enabled.ok) return enabled;
  const existing = findServiceRecord(world, branch.value.id, kind, key);
  if (existing !== undefined) {
    const { label, isSwitch } = SERVICES[kind];
    return refuse(
      "SERVICE_RECORD_EXISTS",
      isSwitch === true
        ? `${label} is already enabled for ${placeOf(branch.value, key)}`
        : `${label} "${key}" already exists`,
    );
  }
  return accept([serviceRecordCreated(world, branch.value.id, record, context)]);
}

/** A new record of a branch. `offset`: records that the same decision creates before it. */
export function serviceRecordCreated(
  world: World,
  branchId: string,
  { kind, key, settings, database, secret, isMarked }: NewServiceRecord,
  context: Context,
  offset = 0,
): Event {
  const secretId = secret === "new" ? newServiceSecretId(world) : undefined;
  const markedAt = isMarked === true ? context.now : undefined;
  const fields = omitUndefined({ key: key ?? "", settings, database, secretId, markedAt });
  const created = recordCreated(world, context, branchId, kind, fields as ServiceRecordFields<never>, offset);
  const { keyFrom } = SERVICES[kind];
  if (keyFrom === undefined || key !== undefined) return created;
  const { record } = created;
  return {
    ...created,
    record: { ...record, fields: { ...record.fields, key: keyFrom(record.id) } } as ServiceRecord,
  };
}

function decideUpdateServiceRecord(
  world: World,
  command: UpdateServiceRecord,
  context: Context,
): Result<Event[]> {
  const branch = findBranchFor(world, command);
  if (!branch.ok) return branch;
  const { kind, key, replaces, secret, isMarked } = command;
  const enabled = checkEnabled(world, branch.value, kind);
  if (!enabled.ok) return enabled;
  const record = findServiceRecord(world, branch.value.id, kind, key);
  if (record === undefined) {
    if (SERVICES[kind].hasDefaults !== true) return refuseMissing(branch.value, kind, key);
    const settings = command.settings as never;
    return accept([serviceRecordCreated(world, branch.value.id, { kind, key, settings, secret }, context)]);
  }
  const { secretId: present, ...rest } = record.fields;
  const secretId = secret === "new" ? newServiceSecretId(world) : secret === "same" ? present : undefined;
  const settings = replaces ? command.settings : { ...record.fields.settings, ...command.settings };
  const markedAt = isMarked === true ? context.now : rest.markedAt;
  const fields = { ...rest, settings, ...omitUndefined({ secretId, markedAt }) };
  // S: a change that repeats the present values is none.
  return accept(
    isSameJson(fields, record.fields) ? [] : [recordUpdated(record, fields as never, context.now)],
  );
}

function decideDeleteServiceRecords(
  world: World,
  { kind, keys, ...target }: DeleteServiceRecords,
  { now }: Context,
): Result<Event[]> {
  const branch = findBranchFor(world, target);
  if (!branch.ok) return branch;
  const enabled = checkEnabled(world, branch.value, kind);
  if (!enabled.ok) return enabled;
  const events: Event[] = [];
  for (const key of new Set(keys)) {
    const record = findServiceRecord(world, branch.value.id, kind, key);
    if (record === undefined) return refuseMissing(branch.value, kind, key);
    if (SERVICES[kind].isRevoked !== true)
      events.push(...[...dependentsOf(world, record), record].map((row) => recordDeleted(row, now)));
    // S: revoking is idempotent.
    else if (record.fields.markedAt === undefined)
      events.push(recordUpdated(record, { ...record.fields, markedAt: now } as never, now));
  }
  return accept(events);
}

/** The records that are deleted with this one. */
export function dependentsOf(world: World, { kind, scope }: ServiceRecord): ServiceRecord[] {
  return servicesOf(world, scope).filter((record) => SERVICES[record.kind].of === kind);
}

/** The service records of a branch, oldest first. */
export function servicesOf(world: World, branchId: string): ServiceRecord[] {
  return world.records.by("scope", branchId).toArray().filter(isServiceRecord);
}

export function findServiceRecord<K extends ServiceKind>(
  world: World,
  branchId: string,
  kind: K,
  key: string,
): SettingsRecordOf<K> | undefined {
  return servicesOf(world, branchId).find((record) => record.kind === kind && record.fields.key === key) as
    | SettingsRecordOf<K>
    | undefined;
}

/** The record, or an error if it does not exist and its kind has no defaults. */
export function findEnabledService<K extends ServiceKind>(
  world: World,
  branch: Branch,
  kind: K,
  key: string,
): Result<SettingsRecordOf<K> | undefined> {
  const enabled = checkEnabled(world, branch, kind);
  if (!enabled.ok) return enabled;
  const record = findServiceRecord(world, branch.id, kind, key);
  return record === undefined && SERVICES[kind].hasDefaults !== true
    ? refuseMissing(branch, kind, key)
    : accept(record);
}

/** Whether the service is enabled that records of this kind belong to. */
export function checkEnabled(world: World, branch: Branch, kind: ServiceKind): Result<undefined> {
  const { of } = SERVICES[kind];
  return of === undefined || findServiceRecord(world, branch.id, of, "") !== undefined
    ? ACCEPTED
    : refuseMissing(branch, of, "");
}

function refuseMissing(branch: Branch, kind: ServiceKind, key: string) {
  const { label, isSwitch } = SERVICES[kind];
  return isSwitch === true
    ? refuse("NOT_ENABLED", `${label} is not enabled for ${placeOf(branch, key)}`)
    : refuse("SERVICE_RECORD_NOT_FOUND", `${label} "${key}" not found`);
}

function placeOf({ id }: Branch, database: string): string {
  return database === "" ? `branch "${id}"` : `database "${database}" of branch "${id}"`;
}

/** Like the id of a password: a copy of the record keeps it, and a new secret gets another one. */
function newServiceSecretId(world: World): string {
  return `service-${world.seq + 1}`;
}
