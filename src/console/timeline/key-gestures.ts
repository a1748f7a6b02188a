import { clearPeriod, period, selectPeriod } from "../state/period.ts";
import { follow, pan, spanMs, zoom } from "../state/viewport.ts";
import { at, now } from "../state/world.ts";
import { beginOfHistory, type TimelineView } from "./view.ts";

const KEY_ZOOM = 1.4;
const KEY_PAN = 0.15;

/** Pan, zoom, scrub and select with the keyboard. */
export function onTimelineKey(event: KeyboardEvent, answer: TimelineView["answer"]): void {
  const middle = at.value ?? now.value ?? 0;
  const actions: Record<string, () => void> = {
    ArrowLeft: () => pan(-spanMs.value * KEY_PAN),
    ArrowRight: () => pan(spanMs.value * KEY_PAN),
    "+": () => zoom(1 / KEY_ZOOM, middle),
    "=": () => zoom(1 / KEY_ZOOM, middle),
    "-": () => zoom(KEY_ZOOM, middle),
    "[": () => {
      at.value = Math.max(beginOfHistory(answer.value), middle - spanMs.value / 100);
    },
    "]": () => {
      const next = middle + spanMs.value / 100;
      at.value = at.value === undefined || next >= (now.value ?? 0) ? undefined : next;
    },
    b: () => selectPeriod(middle, period.value?.to ?? middle),
    e: () => selectPeriod(period.value?.from ?? middle, middle),
    f: follow,
    Escape: () => {
      at.value = undefined;
      clearPeriod();
    },
  };
  const action = actions[event.key];
  if (action === undefined) return;
  event.preventDefault();
  action();
}
