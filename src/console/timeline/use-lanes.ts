import { useComputed, useSignal } from "@preact/signals";
import type { RefObject } from "preact";
import { useEffect } from "preact/hooks";
import { onScrollOrResize } from "../parts/scrolled.ts";
import { computes } from "../state/world.ts";
import type { TimelineView } from "./view.ts";

const MAX_LANES = 100;
const ROOMY = 44;
const DENSE = 26;
/** From this number of computes on, lanes are lower. */
const DENSE_FROM = 14;

/** Which lanes are on screen, and how large they are. */
export function useLanes(
  canvas: RefObject<HTMLCanvasElement | null>,
  scroller: RefObject<HTMLDivElement | null>,
): Pick<TimelineView, "size" | "laneHeight" | "visible"> {
  const size = useSignal({ width: 0, height: 0, scroll: 0 });
  const laneHeight = useComputed(() => (areLanesDense() ? DENSE : ROOMY));
  const visible = useComputed(() => {
    const first = Math.max(0, Math.floor(size.value.scroll / laneHeight.value));
    const count = Math.ceil(size.value.height / laneHeight.value) + 1;
    return computes.value
      .slice(first, first + Math.min(count, MAX_LANES))
      .map((compute, index) => ({ compute, index: first + index }));
  });
  useEffect(() => {
    const element = scroller.current;
    if (element === null) return;
    return onScrollOrResize(element, () => {
      // The names of the lanes are next to the drawing, or above it on a narrow page.
      const width = canvas.current?.clientWidth ?? 0;
      size.value = { width, height: element.clientHeight, scroll: element.scrollTop };
    });
  }, [canvas, scroller, size]);
  return { size, laneHeight, visible };
}

export function areLanesDense(): boolean {
  return computes.value.length >= DENSE_FROM;
}
