import { signal } from "@preact/signals";
import type { Advance } from "../client/types.ts";
import { formatInstant } from "./format.ts";
import { dismiss, notify } from "./notices.ts";
import { currentTab } from "./tab.ts";

/** Events of an advance of the clock: after `since`, up to and including `until`. */
export type Trace = { readonly since: number; readonly until: number; readonly to: string };

/** The trace that the list of events is limited to. */
export const trace = signal<Trace | undefined>(undefined);

let shownNotice: number | undefined;

/** Says what happened while the clock was advanced, and offers the events. */
export function reportAdvance({ now, events, next_since }: Advance): void {
  if (shownNotice !== undefined) dismiss(shownNotice);
  const [first, last] = [events[0], events.at(-1)];
  if (first === undefined || last === undefined) {
    shownNotice = notify("done", `Nothing happened up to ${formatInstant(now)}.`);
    return;
  }
  // The answer to a long advance has the first events only.
  const until = next_since === undefined ? last.seq : Number.POSITIVE_INFINITY;
  const count = `${events.length}${next_since === undefined ? "" : " or more"}`;
  shownNotice = notify(
    "done",
    `${count} ${events.length === 1 ? "event" : "events"} up to ${formatInstant(now)}.`,
    {
      label: "Show trace",
      run: () => {
        trace.value = { since: first.seq - 1, until, to: now };
        currentTab.value = "events";
      },
    },
  );
}
