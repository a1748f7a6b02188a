import { effect } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { Timeline as TimelineAnswer } from "../client/types.ts";
import { period } from "../state/period.ts";
import { from, to } from "../state/viewport.ts";
import { at, clock, computes, now, selection, stats, world } from "../state/world.ts";
import { type Colors, readColors } from "./colors.ts";
import { AXIS_HEIGHT, drawScene, type Scene, type SceneRow } from "./draw.ts";
import type { TimelineView } from "./view.ts";

/** Draws the timeline with the next frame after something has changed. */
export function useDrawing(view: TimelineView): void {
  const { canvas, answer, size, hovered, visible, laneHeight } = view;
  useEffect(() => {
    const element = canvas.current;
    if (element === null) return;
    const shown = { answer, size, hovered, visible, laneHeight };
    let frame = 0;
    let colors = readColors(element);
    const request = () => {
      cancelAnimationFrame(frame);
      frame = requestAnimationFrame(() => draw(element, shown, colors));
    };
    const scheme = matchMedia("(prefers-color-scheme: dark)");
    const recolor = () => {
      colors = readColors(element);
      request();
    };
    scheme.addEventListener("change", recolor);
    const stop = effect(() => {
      answer.value;
      size.value;
      hovered.value;
      visible.value;
      selection.value;
      stats.value;
      from.value;
      to.value;
      at.value;
      period.value;
      now.value;
      world.value;
      request();
    });
    return () => {
      stop();
      cancelAnimationFrame(frame);
      scheme.removeEventListener("change", recolor);
    };
  }, [canvas, answer, size, hovered, visible, laneHeight]);
}

type ShownView = Omit<TimelineView, "canvas" | "pressed">;

/** Draws what is shown now, in the resolution of the screen. */
function draw(element: HTMLCanvasElement, view: ShownView, colors: Colors): void {
  const context = element.getContext("2d");
  const { width, height } = view.size.peek();
  if (context === null || width === 0) return;
  const ratio = devicePixelRatio;
  if (element.width !== Math.round(width * ratio) || element.height !== Math.round(height * ratio)) {
    element.width = Math.round(width * ratio);
    element.height = Math.round(height * ratio);
  }
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  drawScene(context, sceneOf(view, fontOf(element)), colors);
}

function sceneOf(view: ShownView, font: string): Scene {
  const { width, height } = view.size.peek();
  const answer = view.answer.peek();
  const pointer = view.hovered.peek();
  const nextDue = clock.peek()?.next_due;
  const [begin, end] = [from.peek(), to.peek()];
  return {
    width,
    height,
    from: begin,
    to: end,
    now: now.peek() ?? end,
    nextDue: nextDue == null ? undefined : Date.parse(nextDue),
    at: at.peek(),
    period: period.peek(),
    hoveredAt: pointer === undefined ? undefined : begin + (pointer.x / width) * (end - begin),
    rows: rowsOf(view),
    timeline: answer,
    lastsUntil: lastsUntil(answer, now.peek()),
    maxCu: Math.max(1, ...computes.peek().map(({ range }) => range.max_cu)),
    font,
  };
}

function rowsOf({ answer, size, visible, laneHeight }: ShownView): SceneRow[] {
  const lanes = new Map(answer.peek()?.endpoints.map((lane) => [lane.endpoint_id, lane]));
  return visible.peek().map(({ compute, index }) => {
    const suspendAt = stats.peek().get(compute.id)?.autosuspend.suspend_at;
    return {
      id: compute.id,
      top: AXIS_HEIGHT + index * laneHeight.peek() - size.peek().scroll,
      height: laneHeight.peek(),
      isSelected: selection.peek()?.id === compute.id,
      dueAt: dueOf(compute.id),
      suspendAt: suspendAt === null || suspendAt === undefined ? undefined : Date.parse(suspendAt),
      lane: lanes.get(compute.id),
    };
  });
}

/** When the last running operation of a compute ends. */
function dueOf(computeId: string): number | undefined {
  const due = (world.peek()?.operations ?? []).flatMap(({ endpoint_id, state }) =>
    endpoint_id === computeId && state.due_at !== undefined ? Date.parse(state.due_at) : [],
  );
  return due.length === 0 ? undefined : Math.max(...due);
}

/** Not `font`, which is empty while numbers are tabular. */
function fontOf(element: HTMLElement): string {
  const { fontSize, fontFamily } = getComputedStyle(element);
  return `${fontSize} ${fontFamily}`;
}

/** The current instant, if the answer reached the current instant when it was given. */
function lastsUntil(answer: TimelineAnswer | undefined, present: number | undefined): number {
  const reached = answer !== undefined && Date.parse(answer.to) >= Date.parse(answer.now);
  return reached ? (present ?? 0) : 0;
}
