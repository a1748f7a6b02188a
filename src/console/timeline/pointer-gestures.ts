import { selectPeriod } from "../state/period.ts";
import { pan, zoom } from "../state/viewport.ts";
import { at, now, selection } from "../state/world.ts";
import { AXIS_HEIGHT } from "./draw.ts";
import type { Places } from "./places.ts";
import { beginOfHistory, type TimelineView } from "./view.ts";

const WHEEL_ZOOM = 0.0015;
/** Pixels of movement from which on a press is a drag. */
const DRAG_FROM = 3;
/** Shortest distance of two fingers, in pixels: closer fingers do not zoom further. */
const MIN_PINCH = 16;

/** Pan, zoom, scrub and select with pointer and wheel. */
export function pointerGestures(
  { answer, pressed }: TimelineView,
  { instantAt, positionOf, laneAt, durationOf }: Places,
) {
  const scrubTo = (x: number) => {
    const instant = Math.round(instantAt(x));
    at.value = instant >= (now.value ?? 0) ? undefined : Math.max(instant, beginOfHistory(answer.value));
  };
  const panBy = (x: number) => pan(durationOf(-x));
  /** One of two fingers moves to `x`: the instants under both of them stay under them. */
  const pinchTo = (x: number, before: number, other: number) => {
    const distance = (place: number) => Math.max(MIN_PINCH, Math.abs(place - other));
    zoom(distance(before) / distance(x), instantAt((before + other) / 2));
    panBy((x - before) / 2);
  };

  const onPointerDown = (event: PointerEvent) => {
    const target = event.currentTarget as HTMLElement;
    const start = positionOf(event);
    const scrubs = start.y < AXIS_HEIGHT;
    const selects = !scrubs && event.shiftKey;
    let [last, moved] = [start.x, false];
    target.setPointerCapture(event.pointerId);
    pressed.set(event.pointerId, start.x);
    if (scrubs && pressed.size === 1) scrubTo(start.x);
    const move = (next: PointerEvent) => {
      if (next.pointerId !== event.pointerId) return;
      const { x } = positionOf(next);
      const other = [...pressed].find(([id]) => id !== next.pointerId);
      pressed.set(next.pointerId, x);
      if (other !== undefined) {
        moved = true;
        pinchTo(x, last, other[1]);
      } else if (scrubs) scrubTo(x);
      else if (selects) selectPeriod(instantAt(start.x), instantAt(x));
      else if (moved || Math.abs(x - start.x) > DRAG_FROM) {
        moved = true;
        panBy(x - last);
      }
      last = x;
    };
    const end = (next: PointerEvent) => {
      if (next.pointerId !== event.pointerId) return;
      pressed.delete(event.pointerId);
      target.removeEventListener("pointermove", move);
      target.removeEventListener("pointerup", end);
      target.removeEventListener("pointercancel", end);
      if (scrubs || selects || moved || next.type === "pointercancel") return;
      const compute = laneAt(start.y);
      if (compute !== undefined) selection.value = { kind: "compute", id: compute.id };
    };
    target.addEventListener("pointermove", move);
    target.addEventListener("pointerup", end);
    target.addEventListener("pointercancel", end);
  };
  const onWheel = (event: WheelEvent) => {
    if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
      event.preventDefault();
      pan(durationOf(event.deltaX));
    } else if (event.ctrlKey || event.metaKey || event.altKey) {
      event.preventDefault();
      zoom(Math.exp(event.deltaY * WHEEL_ZOOM), instantAt(positionOf(event).x));
    }
  };
  return { onPointerDown, onWheel };
}
