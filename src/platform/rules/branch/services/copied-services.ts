import type { SimTime } from "../../../../kernel/time.ts";
import type { BranchContent } from "../../../model/branch-content.ts";
import type { Context } from "../../../model/context.ts";
import type { Event } from "../../../model/events.ts";
import { SERVICES } from "../../../model/service-record.ts";
import type { ServiceRecord } from "../../../model/settings-record.ts";
import type { World } from "../../../world/world.ts";
import { recordCreated, recordDeleted } from "../../settings/evolve-settings-record.ts";
import { dependentsOf, servicesOf } from "./decide-service-record.ts";

/** A branch at an instant within its history, with its content at that instant. */
type ServiceSource = {
  readonly branchId: string;
  readonly at: SimTime;
  readonly content: Pick<BranchContent, "databases">;
};

/**
 * A new branch gets copies of its source's records. S: a copied bucket has the creation time of the original.
 * A: records that were changed or deleted after the instant are copied as they are now.
 */
export function copiedServices(
  world: World,
  branchId: string,
  source: ServiceSource,
  context: Context,
  offset = 0,
): Event[] {
  return servicesAt(world, source).map(({ kind, fields, createdAt }, index): Event => {
    const inherited = SERVICES[kind].marksInherited === true ? { ...fields, isInherited: true } : fields;
    const created = recordCreated(world, context, branchId, kind, inherited as typeof fields, offset + index);
    return { ...created, record: { ...created.record, createdAt } };
  });
}

/** For a branch that gets the content of its source: its copied records are replaced, too. */
export function restoredServices(
  world: World,
  branchId: string,
  source: ServiceSource,
  context: Context,
  offset = 0,
): Event[] {
  const isSelf = source.branchId === branchId;
  const retained = new Set(isSelf ? servicesAt(world, source).map(({ id }) => id) : []);
  const deleted = servicesOf(world, branchId).filter(({ id, kind, fields }) =>
    SERVICES[kind].isCopied === true ? !retained.has(id) : !hasDatabase(source, fields.database),
  );
  return [
    ...deleted.map((record) => recordDeleted(record, context.now)),
    ...(isSelf ? [] : copiedServices(world, branchId, source, context, offset)),
  ];
}

/** The records of the source that are copied. */
function servicesAt(world: World, source: ServiceSource): ServiceRecord[] {
  const records = servicesOf(world, source.branchId).filter(
    ({ kind, fields, createdAt }) =>
      SERVICES[kind].isCopied === true && createdAt <= source.at && hasDatabase(source, fields.database),
  );
  return records.filter(({ kind, fields }) => {
    const { of, owner } = SERVICES[kind];
    return (
      (of === undefined || records.some((record) => record.kind === of)) &&
      (owner === undefined ||
        records.some((record) => record.kind === owner.kind && record.fields.key === owner.keyOf(fields.key)))
    );
  });
}

function hasDatabase({ content }: ServiceSource, name: string | undefined): boolean {
  return name === undefined || content.databases.some((database) => database.name === name);
}

/** For a database that is deleted: deletes the records of its services. */
export function deleteDatabaseServices(world: World, branchId: string, name: string): void {
  for (const record of servicesOf(world, branchId)) {
    if (record.fields.database !== name) continue;
    for (const { id } of [...dependentsOf(world, record), record]) world.records.delete(id);
  }
}

/** For a database that is renamed: its services serve it under its new name. */
export function renameDatabaseServices(world: World, branchId: string, name: string, newName: string): void {
  for (const record of servicesOf(world, branchId)) {
    const { fields } = record;
    if (fields.database !== name) continue;
    const key = fields.key === name ? newName : fields.key;
    world.records.set({ ...record, fields: { ...fields, key, database: newName } } as ServiceRecord);
  }
}
