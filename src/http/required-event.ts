import type { Event } from "../platform/model/events.ts";
import type { SettingsRecordKind, SettingsRecordOf } from "../platform/model/settings-record.ts";

/** The event of this type among those of an executed command, which always causes one. */
export function requiredEvent<T extends Event["type"]>(
  events: readonly Event[],
  type: T,
): Extract<Event, { readonly type: T }> {
  for (const event of events) if (event.type === type) return event as Extract<Event, { readonly type: T }>;
  throw new Error(`the command caused no ${type}`);
}

/** The record of this kind that an executed command has created. */
export function createdRecord<K extends SettingsRecordKind>(
  events: readonly Event[],
  kind: K,
): SettingsRecordOf<K> {
  for (const event of events)
    if (event.type === "RecordCreated" && event.record.kind === kind)
      return event.record as SettingsRecordOf<K>;
  throw new Error(`the command created no record of kind ${kind}`);
}
