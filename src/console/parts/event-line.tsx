import type { WorldEvent } from "../client/types.ts";
import { subjectOf } from "../state/event-subject.ts";
import { formatInstant, words } from "../state/format.ts";
import { isInPeriod } from "../state/period.ts";
import { reveal } from "../state/viewport.ts";
import { at, now } from "../state/world.ts";
import { PeriodBox } from "./period-box.tsx";

const SHOWN_ELSEWHERE = new Set(["seq", "at", "type", "decision"]);

/** An event, with its fields to unfold. Its instant leads to the timeline. */
export function EventLine({
  event,
  isSelectable = false,
}: {
  readonly event: WorldEvent;
  readonly isSelectable?: boolean;
}) {
  const fields = Object.fromEntries(Object.entries(event).filter(([name]) => !SHOWN_ELSEWHERE.has(name)));
  const show = () => {
    const instant = Date.parse(event.at);
    at.value = instant >= (now.value ?? 0) ? undefined : instant;
    reveal(instant);
  };
  return (
    <li class={isSelectable && isInPeriod(Date.parse(event.at)) ? "selected" : ""}>
      {isSelectable && <PeriodBox at={event.at} label={`event ${event.seq}`} />}
      <details>
        <summary>
          <span class="seq">{event.seq}</span> <span class="what">{words(event.type)}</span>
          {isSelectable && <small> {subjectOf(event)}</small>}
        </summary>
        <pre>{JSON.stringify(fields, undefined, 1)}</pre>
      </details>
      <button type="button" class="instant" title="Show this instant in the timeline" onClick={show}>
        <time>{formatInstant(event.at)}</time>
      </button>
    </li>
  );
}
