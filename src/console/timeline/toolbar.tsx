import { isReadOnly } from "../client/mode.ts";
import { forkHere } from "../state/fork-here.ts";
import { formatInstant } from "../state/format.ts";
import { DAY, follow, HOUR, isFollowing, showLast, showPeriod, spanMs, zoom } from "../state/viewport.ts";
import { at, now } from "../state/world.ts";

const PERIODS = [
  ["15 min", HOUR / 4],
  ["1 h", HOUR],
  ["6 h", 6 * HOUR],
  ["1 d", DAY],
  ["7 d", 7 * DAY],
] as const;

export function TimelineToolbar({ begin }: { readonly begin: number }) {
  const middle = () => at.value ?? now.value ?? 0;
  return (
    <div class="toolbar">
      <h2>Timeline</h2>
      <fieldset class="segments">
        <legend class="hidden">Period</legend>
        {PERIODS.map(([label, ms]) => (
          <button
            type="button"
            key={label}
            aria-pressed={Math.abs(spanMs.value / ms - 1) < 0.01}
            onClick={() => showLast(ms)}
          >
            {label}
          </button>
        ))}
        <button type="button" onClick={() => showPeriod(begin, now.value ?? begin)} disabled={begin === 0}>
          All
        </button>
      </fieldset>
      <fieldset class="segments">
        <legend class="hidden">Zoom</legend>
        <button type="button" aria-label="Zoom out" onClick={() => zoom(2, middle())}>
          −
        </button>
        <button type="button" aria-label="Zoom in" onClick={() => zoom(0.5, middle())}>
          +
        </button>
      </fieldset>
      <button type="button" class="quiet" aria-pressed={isFollowing.value} onClick={follow}>
        Follow
      </button>
      {at.value === undefined ? (
        <ul class="legend" aria-label="Legend">
          <li class="active">active</li>
          <li class="starting">starting</li>
          <li class="arrival">arrivals</li>
          <li class="waiting">waited for a start</li>
          <li class="mark">fault</li>
          <li class="due">due</li>
        </ul>
      ) : (
        <p class="past-banner" role="status">
          As of <time>{formatInstant(Math.round(at.value))}</time>
          <button
            type="button"
            onClick={() => {
              at.value = undefined;
            }}
          >
            Back to now
          </button>
          <button type="button" class="primary" disabled={isReadOnly} onClick={() => forkHere(at.value)}>
            Fork here
          </button>
        </p>
      )}
    </div>
  );
}
