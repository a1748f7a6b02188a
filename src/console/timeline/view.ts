import type { ReadonlySignal } from "@preact/signals";
import type { RefObject } from "preact";
import type { Compute, Timeline } from "../client/types.ts";

/** Visible period and layout of the timeline. Lengths in pixels. */
export type TimelineView = {
  readonly canvas: RefObject<HTMLCanvasElement | null>;
  readonly answer: ReadonlySignal<Timeline | undefined>;
  readonly size: ReadonlySignal<{ readonly width: number; readonly height: number; readonly scroll: number }>;
  readonly hovered: ReadonlySignal<{ readonly x: number; readonly y: number } | undefined>;
  readonly visible: ReadonlySignal<readonly { readonly compute: Compute; readonly index: number }[]>;
  /** Pointers that are down, by id, with their distance from the left edge. */
  readonly pressed: Map<number, number>;
  readonly laneHeight: ReadonlySignal<number>;
};

export function beginOfHistory(answer: Timeline | undefined): number {
  return answer === undefined ? 0 : Date.parse(answer.history_begins_at);
}
