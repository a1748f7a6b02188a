import type { RecordedEvent } from "../../platform/model/events.ts";
import { type EventPlace, type ShortForm, shortForms } from "./short-forms.ts";

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

/** The event at this place. Throws if the payload is not one that `payloadOf` writes. */
export function eventWith(place: EventPlace, payload: string): object {
  const parsed: unknown = JSON.parse(payload);
  if (!Array.isArray(parsed)) {
    const { seq, at, type, decision } = place;
    return { seq, at, type, decision, ...(parsed as object) };
  }
  const form = SHORT_FORMS[place.type];
  if (form === undefined) throw new Error(`${place.type} has no short form`);
  return form.eventOf(place, parsed);
}
