import { isoInstant } from "../../kernel/calendar.ts";
import type { RecordedEvent } from "../../platform/model/events.ts";
import { plural } from "../../whatif/units/number-format.ts";

/**
 * The SQL of Postgres clients that a recording lacks, described for each compute. Statements are not stored: a world
 * knows how long they kept a compute busy. `areListed`: the recording has their texts.
 */
export function droppedStatements(events: readonly RecordedEvent[], areListed = false): string[] {
  const missing = areListed
    ? "their texts are in failed.sql"
    : "statements are not stored, so the steps have their load and not their rows";
  const clients = new Map<string, Use>();
  for (const event of events) {
    if (event.type === "SpanBegan") {
      const { endpointId, at } = event;
      const known = clients.get(endpointId) ?? { from: at, to: at, arrivals: 0 };
      clients.set(endpointId, { ...known, isUncounted: true });
    } else if (event.type === "SpanEnded") {
      const { endpointId, beganAt, until, arrivals, continues } = event;
      const known = clients.get(endpointId) ?? { from: beganAt, to: until, arrivals: 0 };
      clients.set(endpointId, {
        ...{ from: known.from, to: until, arrivals: known.arrivals + arrivals },
        isUncounted: continues,
      });
    }
  }
  return [...clients].map(
    ([endpointId, use]) =>
      `SQL of Postgres clients on ${endpointId} from ${isoInstant(use.from)} to ${isoInstant(use.to)} (${countOf(use)}): ${missing}; add sql steps for what matters`,
  );
}

type Use = {
  readonly from: number;
  readonly to: number;
  readonly arrivals: number;
  /** The last work was not reported when the recording ended. */
  readonly isUncounted?: boolean | undefined;
};

function countOf({ arrivals, isUncounted = false }: Use): string {
  if (isUncounted && arrivals === 0) return "1 request or more";
  return `${plural(arrivals, "request")}${isUncounted ? " or more" : ""}`;
}
