import type { Compute } from "../client/types.ts";
import { clearPeriod, period, selectPeriod } from "../state/period.ts";
import { follow, from, pan, spanMs, zoom } from "../state/viewport.ts";
import { at, computes, now, selection } from "../state/world.ts";
import { AXIS_HEIGHT } from "./draw.ts";
import { beginOfHistory, type TimelineView } from "./view.ts";

const WHEEL_ZOOM = 0.0015;
const KEY_ZOOM = 1.4;
const KEY_PAN = 0.15;
/** Pixels of movement from which on a press is a drag. */
const DRAG_FROM = 3;
/** Shortest distance of two fingers, in pixels: closer fingers do not zoom further. */
const MIN_PINCH = 16;

/** Pan, zoom, scrub and select with pointer, wheel and keyboard. */
export function gesturesOf({ canvas, answer, size, laneHeight, pressed }: TimelineView) {
  const instantAt = (x: number) => from.value + (x / Math.max(1, size.value.width)) * spanMs.value;
  const positionOf = (event: { clientX: number; clientY: number }) => {
    const box = canvas.current?.getBoundingClientRect() ?? new DOMRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  };
  const laneAt = (y: number): Compute | undefined =>
    y < AXIS_HEIGHT
      ? undefined
      : computes.value[Math.floor((y - AXIS_HEIGHT + size.value.scroll) / laneHeight.value)];
  const scrubTo = (x: number) => {
    const instant = Math.round(instantAt(x));
    at.value = instant >= (now.value ?? 0) ? undefined : Math.max(instant, beginOfHistory(answer.value));
  };

  const panBy = (x: number) => pan((-x / Math.max(1, size.value.width)) * spanMs.value);
  /** One of two fingers moves to `x`: the instants under both of them stay under them. */
  const pinchTo = (x: number, before: number, other: number) => {
    const distance = (at: number) => Math.max(MIN_PINCH, Math.abs(at - other));
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
      pan((event.deltaX / Math.max(1, size.value.width)) * spanMs.value);
    } else if (event.ctrlKey || event.metaKey || event.altKey) {
      event.preventDefault();
      zoom(Math.exp(event.deltaY * WHEEL_ZOOM), instantAt(positionOf(event).x));
    }
  };
  const onKeyDown = (event: KeyboardEvent) => {
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
  };
  return { instantAt, positionOf, laneAt, onPointerDown, onWheel, onKeyDown };
}
