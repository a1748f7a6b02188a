import type { Timeline, TimelineLane, TimelineSpan } from "../client/types.ts";
import type { Period } from "../state/period.ts";
import { ticks } from "./axis.ts";
import type { Colors } from "./colors.ts";

export const AXIS_HEIGHT = 28;

/** Input of one drawing. Instants are in milliseconds, lengths in CSS pixels. */
export type Scene = {
  readonly width: number;
  readonly height: number;
  readonly from: number;
  readonly to: number;
  readonly now: number;
  /** When the next thing is due. */
  readonly nextDue: number | undefined;
  /** The instant in the past that the page shows. */
  readonly at: number | undefined;
  readonly hoveredAt: number | undefined;
  readonly period: Period | undefined;
  readonly rows: readonly SceneRow[];
  readonly timeline: Timeline | undefined;
  /** Up to when the newest state of a lane lasts. */
  readonly lastsUntil: number;
  /** The largest size of all computes, in CU: the full height of a lane. */
  readonly maxCu: number;
  readonly font: string;
};

export type SceneRow = {
  readonly id: string;
  readonly top: number;
  readonly height: number;
  readonly isSelected: boolean;
  /** When the last running operation of the compute ends. */
  readonly dueAt: number | undefined;
  /** When an active compute will be suspended if nothing uses it. */
  readonly suspendAt: number | undefined;
  readonly lane: TimelineLane | undefined;
};

type Pen = {
  readonly context: CanvasRenderingContext2D;
  readonly colors: Colors;
  readonly x: (at: number) => number;
};

export function drawScene(context: CanvasRenderingContext2D, scene: Scene, colors: Colors): void {
  const { width, height, from, to, now, at } = scene;
  const x = (instant: number) => ((instant - from) / (to - from)) * width;
  const pen: Pen = { context, colors, x };
  context.clearRect(0, 0, width, height);
  context.font = scene.font;
  drawGrid(pen, scene);
  const begin = scene.timeline === undefined ? undefined : Date.parse(scene.timeline.from);
  // Lanes that are scrolled do not reach into the ruler.
  context.save();
  context.beginPath();
  context.rect(0, AXIS_HEIGHT, width, height - AXIS_HEIGHT);
  context.clip();
  for (const row of scene.rows) drawRow(pen, scene, row, begin ?? from);
  context.restore();
  if (scene.timeline !== undefined) drawMarks(pen, scene, scene.timeline);
  if (scene.period !== undefined) drawPeriod(pen, scene, scene.period);
  // Veils the future.
  context.fillStyle = colors.past;
  const present = Math.max(0, x(at ?? now));
  if (present < width) context.fillRect(present, AXIS_HEIGHT, width - present, height - AXIS_HEIGHT);
  drawLine(pen, scene, now, colors.accent, at === undefined ? 2 : 1);
  if (at === undefined && scene.nextDue !== undefined && scene.nextDue > now) drawNextDue(pen, scene.nextDue);
  if (at !== undefined) drawPlayhead(pen, scene, at);
  if (scene.hoveredAt !== undefined) drawLine(pen, scene, scene.hoveredAt, colors.muted, 1);
}

function drawGrid({ context, colors, x }: Pen, { from, to, width, height }: Scene): void {
  context.textBaseline = "middle";
  let free = Number.NEGATIVE_INFINITY;
  for (const { at, label, isDate } of ticks(from, to, width)) {
    const left = Math.round(x(at)) + 0.5;
    context.strokeStyle = isDate ? colors.line : colors.grid;
    context.lineWidth = 1;
    context.beginPath();
    context.moveTo(left, AXIS_HEIGHT - 6);
    context.lineTo(left, height);
    context.stroke();
    if (left < free) continue;
    context.fillStyle = isDate ? colors.text : colors.muted;
    context.fillText(label, left + 5, AXIS_HEIGHT / 2);
    free = left + context.measureText(label).width + 14;
  }
  context.strokeStyle = colors.line;
  context.beginPath();
  context.moveTo(0, AXIS_HEIGHT - 0.5);
  context.lineTo(width, AXIS_HEIGHT - 0.5);
  context.stroke();
}

function drawRow(pen: Pen, scene: Scene, row: SceneRow, begin: number): void {
  const { context, colors, x } = pen;
  const { top, height, lane } = row;
  if (row.isSelected) {
    context.fillStyle = colors["active-soft"];
    context.globalAlpha = 0.45;
    context.fillRect(0, top, scene.width, height);
    context.globalAlpha = 1;
  }
  const floor = top + height - 5;
  const room = height - 12;
  const spans = lane?.spans ?? [];
  for (const [index, span] of spans.entries()) {
    const left = x(begin + span.since_ms);
    // The newest state lasts until an event ends it, while the clock moves on.
    const until =
      index === spans.length - 1 ? Math.max(begin + span.until_ms, scene.lastsUntil) : begin + span.until_ms;
    const right = x(until);
    if (right < 0 || left > scene.width) continue;
    drawSpan(pen, span, { left, right, floor, room, maxCu: scene.maxCu });
  }
  for (const { at_ms, count, waiting } of lane?.arrivals ?? []) {
    const left = x(begin + at_ms);
    if (left < -2 || left > scene.width) continue;
    const size = Math.min(room, 4 + 2 * Math.log2(1 + count));
    context.fillStyle = waiting > 0 ? colors.waiting : colors.arrival;
    context.fillRect(Math.round(left), top + 4, 1.5, size);
  }
  if (row.suspendAt !== undefined && scene.at === undefined && row.suspendAt > scene.now)
    drawCountdown(pen, [x(scene.now), x(row.suspendAt)], floor, colors.active);
  if (row.dueAt !== undefined && scene.at === undefined && row.dueAt > scene.now)
    drawCountdown(pen, [x(scene.now), x(row.dueAt)], floor + 3, colors.operation);
  context.fillStyle = colors.grid;
  context.fillRect(0, top + height - 1, scene.width, 1);
}

type SpanBox = {
  readonly left: number;
  readonly right: number;
  readonly floor: number;
  readonly room: number;
  readonly maxCu: number;
};

/** The height of an active span is its size, with a visible least height. */
function drawSpan({ context, colors }: Pen, span: TimelineSpan, box: SpanBox): void {
  const { left, right, floor, room, maxCu } = box;
  const width = Math.max(1, right - left);
  const height = room * (0.4 + 0.6 * Math.sqrt(Math.min(1, span.size_cu / maxCu)));
  switch (span.state) {
    case "suspended":
      context.fillStyle = colors.line;
      context.fillRect(left, floor - 1.5, width, 1.5);
      return;
    case "starting":
      context.fillStyle = colors.starting;
      context.fillRect(left, floor - room * 0.4, Math.max(1.5, width), room * 0.4);
      return;
    case "mixed":
      context.fillStyle = colors.active;
      context.globalAlpha = 0.15 + 0.75 * (span.active_share ?? 0);
      break;
    case "suspending":
      context.fillStyle = colors["active-soft"];
      break;
    default:
      context.fillStyle = colors.active;
  }
  context.fillRect(left, floor - height, width, height);
  context.globalAlpha = 1;
}

/** A dashed line from now to what is due. */
function drawCountdown(
  { context }: Pen,
  [left, right]: readonly [number, number],
  floor: number,
  color: string,
): void {
  context.strokeStyle = color;
  context.lineWidth = 1.5;
  context.setLineDash([3, 3]);
  context.beginPath();
  context.moveTo(left, floor - 1);
  context.lineTo(right, floor - 1);
  context.stroke();
  context.setLineDash([]);
  context.fillStyle = color;
  context.fillRect(right - 1, floor - 6, 2, 6);
}

function drawMarks({ context, colors, x }: Pen, scene: Scene, timeline: Timeline): void {
  const rows = new Map(scene.rows.map((row) => [row.id, row]));
  for (const { endpoint_id, since, until, status } of timeline.operations) {
    const row = rows.get(endpoint_id ?? "");
    if (row === undefined || row.top + row.height < AXIS_HEIGHT + 4) continue;
    const left = x(Date.parse(since));
    const right = x(until === null ? scene.now : Date.parse(until));
    context.fillStyle = status === "failed" ? colors.danger : colors.operation;
    context.fillRect(left, row.top + row.height - 4, Math.max(2, right - left), 2);
  }
  for (const { at, endpoint_id, kind } of timeline.marks) {
    const row = rows.get(endpoint_id ?? "");
    if (row !== undefined && row.top + row.height < AXIS_HEIGHT + 12) continue;
    const [top, bottom] =
      row === undefined
        ? [AXIS_HEIGHT - 5, AXIS_HEIGHT]
        : [row.top + row.height - 11, row.top + row.height - 5];
    const center = x(Date.parse(at));
    context.fillStyle = kind === "restart" ? colors.operation : colors.danger;
    context.beginPath();
    context.moveTo(center - 4, top);
    context.lineTo(center + 4, top);
    context.lineTo(center, bottom);
    context.closePath();
    context.fill();
  }
}

function drawLine({ context, x }: Pen, scene: Scene, at: number, color: string, width: number): void {
  const left = Math.round(x(at));
  context.fillStyle = color;
  context.fillRect(left - width / 2, AXIS_HEIGHT - 6, width, scene.height - AXIS_HEIGHT + 6);
}

/** A flag on the ruler. */
function drawNextDue({ context, colors, x }: Pen, due: number): void {
  const left = Math.round(x(due));
  context.fillStyle = colors.accent;
  context.fillRect(left, AXIS_HEIGHT - 12, 1.5, 12);
  context.fillRect(left, AXIS_HEIGHT - 12, 6, 5);
}

function drawPeriod({ context, colors, x }: Pen, scene: Scene, period: Period): void {
  const left = x(period.from);
  const width = Math.max(2, x(period.to) - left);
  context.fillStyle = colors.accent;
  context.globalAlpha = 0.14;
  context.fillRect(left, AXIS_HEIGHT, width, scene.height - AXIS_HEIGHT);
  context.globalAlpha = 1;
  context.fillRect(left, AXIS_HEIGHT - 4, width, 4);
}

function drawPlayhead(pen: Pen, scene: Scene, at: number): void {
  const { context, colors, x } = pen;
  drawLine(pen, scene, at, colors.starting, 2);
  const left = x(at);
  context.fillStyle = colors.starting;
  context.beginPath();
  context.roundRect(left - 6, AXIS_HEIGHT - 20, 12, 14, 3);
  context.fill();
}
