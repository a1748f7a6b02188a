import type { RecordedEvent } from "../../platform/model/events.ts";
import { type ShortForm, shortForms } from "./short-forms.ts";

const SHORT_FORMS: { readonly [type: string]: ShortForm<never> | undefined } = shortForms;

/**
 * The fields of an event that have no column of their own, as JSON: a list of values for the most frequent
 * events, otherwise an object. Before version 4 of the journal all of them were objects.
 */
export function payloadOf(event: RecordedEvent): string {
  const values = SHORT_FORMS[event.type]?.valuesOf(event as never);
  if (values !== undefined) return JSON.stringify(values);
  const { seq, at, type, decision, ...fields } = event;
  return JSON.stringify(fields);
}

/** The fields of an event of this type and instant. Throws if the payload is not one that `payloadOf` writes. */
export function fieldsOf(type: string, at: number, payload: string): object {
  const parsed: unknown = JSON.parse(payload);
  if (!Array.isArray(parsed)) return parsed as object;
  const form = SHORT_FORMS[type];
  if (form === undefined) throw new Error(`${type} has no short form`);
  return form.fieldsOf(parsed, at);
}
