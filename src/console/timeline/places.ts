import type { Compute } from "../client/types.ts";
import { from, spanMs } from "../state/viewport.ts";
import { computes } from "../state/world.ts";
import { AXIS_HEIGHT } from "./draw.ts";
import type { TimelineView } from "./view.ts";

/** Converts positions on the drawing to instants and lanes. */
export type Places = {
  readonly instantAt: (x: number) => number;
  /** Position of a pointer event on the drawing. */
  readonly positionOf: (event: { clientX: number; clientY: number }) => {
    readonly x: number;
    readonly y: number;
  };
  readonly laneAt: (y: number) => Compute | undefined;
  /** The duration that a horizontal distance represents. */
  readonly durationOf: (width: number) => number;
};

export function placesOf({ canvas, size, laneHeight }: TimelineView): Places {
  const durationOf = (width: number) => (width / Math.max(1, size.value.width)) * spanMs.value;
  return {
    durationOf,
    instantAt: (x) => from.value + durationOf(x),
    positionOf: (event) => {
      const box = canvas.current?.getBoundingClientRect() ?? new DOMRect();
      return { x: event.clientX - box.left, y: event.clientY - box.top };
    },
    laneAt: (y) =>
      y < AXIS_HEIGHT
        ? undefined
        : computes.value[Math.floor((y - AXIS_HEIGHT + size.value.scroll) / laneHeight.value)],
  };
}
