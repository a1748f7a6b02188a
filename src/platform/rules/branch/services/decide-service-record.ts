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
  const allowed = checkSettings(world, branch.value, kind, key, record.settings);
  if (!allowed.ok) return allowed;
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
  const { kind, key, replaces, onlyOwn, secret, isMarked } = command;
  const enabled = checkEnabled(world, branch.value, kind);
  if (!enabled.ok) return enabled;
  const record = findServiceRecord(world, branch.value.id, kind, key);
  if (onlyOwn === true && (record === undefined || record.fields.isInherited === true))
    return refuseMissing(branch.value, kind, key);
  if (record === undefined) {
    const { hasDefaults, isPut } = SERVICES[kind];
    if (hasDefaults !== true && isPut !== true) return refuseMissing(branch.value, kind, key);
    const settings = command.settings as never;
    const allowed = checkSettings(world, branch.value, kind, key, settings);
    if (!allowed.ok) return allowed;
    return accept([serviceRecordCreated(world, branch.value.id, { kind, key, settings, secret }, context)]);
  }
  // A: a revoked record has no secret any more that could change.
  if (SERVICES[kind].isRevoked === true && record.fields.markedAt !== undefined)
    return refuseMissing(branch.value, kind, key);
  const { secretId: present, isInherited: _, ...rest } = record.fields;
  const secretId = secret === "new" ? newServiceSecretId(world) : secret === "same" ? present : undefined;
  const settings = replaces ? command.settings : { ...record.fields.settings, ...command.settings };
  const allowed = checkSettings(world, branch.value, kind, key, settings);
  if (!allowed.ok) return allowed;
  const markedAt = isMarked === true ? context.now : rest.markedAt;
  const fields = { ...rest, settings, ...omitUndefined({ secretId, markedAt }) };
  // S: an update that repeats the current values changes nothing.
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
export function dependentsOf(world: World, { kind, scope, fields }: ServiceRecord): ServiceRecord[] {
  return servicesOf(world, scope).filter((record) => {
    const { of, owner } = SERVICES[record.kind];
    return of === kind || (owner?.kind === kind && owner.keyOf(record.fields.key) === fields.key);
  });
}

/** Whether the records exist that one with these settings needs, and no other one has its unique value. */
function checkSettings(
  world: World,
  branch: Branch,
  kind: ServiceKind,
  key: string,
  settings: object,
): Result<undefined> {
  const { owner, refersTo, uniqueBy, most, label } = SERVICES[kind];
  const needed = [
    ...(owner === undefined ? [] : [{ kind: owner.kind, key: owner.keyOf(key) }]),
    ...(refersTo?.(settings as never) ?? []),
  ];
  const missing = needed.find(
    (other) => findServiceRecord(world, branch.id, other.kind, other.key) === undefined,
  );
  if (missing !== undefined) return refuseMissing(branch, missing.kind, missing.key);
  if (uniqueBy === undefined && most === undefined) return ACCEPTED;
  const others = servicesOf(world, branch.id).filter(
    (other) => other.kind === kind && other.fields.key !== key,
  );
  const value = uniqueBy?.(settings as never);
  if (value !== undefined && others.some(({ fields }) => uniqueBy?.(fields.settings as never) === value))
    return refuse("SERVICE_RECORD_EXISTS", `${label} "${value}" already exists`);
  if (most === undefined) return ACCEPTED;
  const bytes = [...others.map(({ fields }) => fields.settings), settings]
    .map((each) => most.bytesOf(each as never))
    .reduce((sum, each) => sum + each, 0);
  return others.length < most.records && bytes <= most.bytes
    ? ACCEPTED
    : refuse(
        "PLAN_LIMIT_EXCEEDED",
        `a branch stores at most ${most.records} of "${label}" with ${most.bytes} bytes together; delete some`,
      );
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

/** The refusal for a record that does not exist. */
export function refuseMissing(branch: Branch, kind: ServiceKind, key: string) {
  const { label, nameOf, isSwitch, missing } = SERVICES[kind];
  return isSwitch === true
    ? refuse("NOT_ENABLED", `${label} is not enabled for ${placeOf(branch, key)}`)
    : refuse("SERVICE_RECORD_NOT_FOUND", missing ?? `${label} "${nameOf?.(key) ?? key}" not found`);
}

function placeOf({ id }: Branch, database: string): string {
  return database === "" ? `branch "${id}"` : `database "${database}" of branch "${id}"`;
}

/** Like the id of a password: a copy of the record keeps it, and a new secret gets another one. */
function newServiceSecretId(world: World): string {
  return `service-${world.seq + 1}`;
}
