import { isoInstant } from "../../kernel/calendar.ts";
import { escapeHtml } from "../../kernel/escape-html.ts";
import { DAY, HOUR, MINUTE, SECOND, type SimTime } from "../../kernel/time.ts";
import type { ComputeTimeline, OperationInterval } from "../measure/run-figures.ts";
import type { Verdict } from "../run/verdict.ts";
import { instantOf } from "./instants.ts";

/** Width of a lane in its own units; it stretches to the width of the page. */
const WIDTH = 240;
const STATE_HEIGHT = 32;
const STRIP_HEIGHT = 7;
const MIN_WIDTH = 0.5;
/** Failures closer than this share a mark: its width on a narrow screen. */
const MARK_DISTANCE = 12;
const MAX_TICKS = 6;
const TICK_STEPS = [
  ...[1, 5, 10, 30].map((count) => count * SECOND),
  ...[1, 5, 10, 30].map((count) => count * MINUTE),
  ...[1, 2, 6, 12].map((count) => count * HOUR),
  ...[1, 2, 7, 14, 30, 90, 365].map((count) => count * DAY),
];

/** Places instants of a run within the lanes. */
type Scale = { readonly start: SimTime; readonly end: SimTime; readonly x: (at: string) => number };

/** Every compute, operation, arrival, fault and step of a run on the simulated clock, with the failures marked. */
export function htmlTimeline(verdict: Verdict): string {
  const scale = scaleOf(verdict);
  const { timelines, operations, faults, steps } = verdict;
  const computes = new Set(timelines.map(({ label }) => label));
  const others = operations.filter(({ of }) => !computes.has(of));
  const lines = verdict.failures
    .map(({ at }) => {
      const x = scale.x(at);
      return `<line class="failure" x1="${x}" x2="${x}" y1="0" y2="100%"/>`;
    })
    .join("");
  const lane = (label: string, height: number, shapes: string) =>
    `<div class="lane"><div class="label">${escapeHtml(label)}</div><svg role="img" aria-label="${escapeHtml(label)}" viewBox="0 0 ${WIDTH} ${height}" height="${height}" preserveAspectRatio="none">${shapes}${lines}</svg></div>`;
  const lanes = [
    ...timelines.map((timeline) =>
      lane(
        timeline.label,
        STATE_HEIGHT + 2 * STRIP_HEIGHT,
        computeShapes(timeline) +
          operationShapes(
            operations.filter(({ of }) => of === timeline.label),
            STATE_HEIGHT + STRIP_HEIGHT,
            scale,
          ),
      ),
    ),
    ...(others.length === 0
      ? []
      : [
          lane(
            "operations of branches, projects and other computes",
            STRIP_HEIGHT,
            operationShapes(others, 0, scale),
          ),
        ]),
    ...(faults.length === 0
      ? []
      : [
          lane(
            "faults",
            STRIP_HEIGHT,
            faults
              .map(({ at, fault, effect, target }) =>
                mark("fault", scale.x(at), `${at} ${fault}: ${effect} ${target}`),
              )
              .join(""),
          ),
        ]),
    ...(steps.length === 0
      ? []
      : [
          lane(
            "steps",
            STRIP_HEIGHT,
            steps
              .map(({ at, place, name }) => mark("step", scale.x(at), `${at} step ${place}: ${name}`))
              .join(""),
          ),
        ]),
  ];
  if (lanes.length === 0) return '<p class="note">The run has no compute, operation or step to show.</p>';
  return `<div class="lanes">${axis(scale)}\n${lanes.join("\n")}\n${failureMarks(verdict, scale)}</div>\n${legend(verdict)}`;
}

function scaleOf({ started_at, ended_at }: Verdict): Scale {
  const [start, end] = [instantOf(started_at), instantOf(ended_at)];
  return {
    ...{ start, end },
    x: (at) => (end === start ? 0 : Number((((instantOf(at) - start) / (end - start)) * WIDTH).toFixed(2))),
  };
}

/** The shares of each column from the bottom: active, then starting; arrivals in the strip below. */
function computeShapes({ active, starting, arrivals }: ComputeTimeline): string {
  const width = WIDTH / active.length;
  const most = Math.max(1, ...arrivals);
  return active
    .map((share, column) => {
      const x = Number((column * width).toFixed(2));
      const activeHeight = Number((share * STATE_HEIGHT).toFixed(2));
      const startingHeight = Number(((starting[column] ?? 0) * STATE_HEIGHT).toFixed(2));
      const count = arrivals[column] ?? 0;
      const arrivalHeight = Number(((count / most) * STRIP_HEIGHT).toFixed(2));
      return [
        rect("active", x, STATE_HEIGHT - activeHeight, width, activeHeight),
        rect("starting", x, STATE_HEIGHT - activeHeight - startingHeight, width, startingHeight),
        rect(
          "arrival",
          x,
          STATE_HEIGHT + STRIP_HEIGHT - arrivalHeight,
          width,
          arrivalHeight,
          `${count} arrivals`,
        ),
      ].join("");
    })
    .join("");
}

function operationShapes(operations: readonly OperationInterval[], y: number, { x, end }: Scale): string {
  return operations
    .map(({ action, cause, from, to, status }) => {
      const left = x(from);
      const width = Math.max(MIN_WIDTH, x(to ?? isoInstant(end)) - left);
      const title = `${from} ${action} by ${cause}: ${status}${to === undefined ? "" : ` at ${to}`}`;
      return rect(`operation ${status}`, left, y, width, STRIP_HEIGHT, title);
    })
    .join("");
}

function mark(name: string, x: number, title: string): string {
  return rect(name, Math.max(0, x - MIN_WIDTH / 2), 0, MIN_WIDTH, STRIP_HEIGHT, title);
}

function rect(name: string, x: number, y: number, width: number, height: number, title?: string): string {
  if (height === 0) return "";
  const text = title === undefined ? "" : `<title>${escapeHtml(title)}</title>`;
  return `<rect class="${name}" x="${x}" y="${Number(y.toFixed(2))}" width="${Number(width.toFixed(2))}" height="${height}">${text}</rect>`;
}

function axis({ start, end, x }: Scale): string {
  const step = TICK_STEPS.find((ms) => (end - start) / ms <= MAX_TICKS) ?? end - start;
  const ticks: SimTime[] = [];
  // The last tick needs room for its text.
  for (let at = start; at <= end - step / 2 || ticks.length === 0; at += step) ticks.push(at);
  const spans = ticks.map(
    (at) => `<span style="left:${percent(x(isoInstant(at)))}">${tickText(at, step, at === start)}</span>`,
  );
  return `<div class="axis">${spans.join("")}</div>`;
}

/** The first tick has the date. */
function tickText(at: SimTime, step: number, isFirst: boolean): string {
  const text = isoInstant(at);
  if (step >= DAY) return text.slice(0, 10);
  const time = step < MINUTE ? text.slice(11, 19) : text.slice(11, 16);
  return isFirst ? `${text.slice(0, 10)} ${time}` : time;
}

/** The numbers of the failures at their instants; those too close to each other share a mark. */
function failureMarks({ failures }: Verdict, { x }: Scale): string {
  if (failures.length === 0) return "";
  const marks: { readonly x: number; readonly numbers: number[]; readonly titles: string[] }[] = [];
  for (const [index, { what, at }] of failures.entries()) {
    const near = marks.find((other) => Math.abs(other.x - x(at)) < MARK_DISTANCE);
    const shared = near ?? { x: x(at), numbers: [], titles: [] };
    if (near === undefined) marks.push(shared);
    shared.numbers.push(index + 1);
    shared.titles.push(`${what} at ${at}`);
  }
  const links = marks.map(
    ({ x: at, numbers, titles }) =>
      `<b style="left:${percent(at)}" title="${escapeHtml(titles.join("\n"))}">${numberRange(numbers)}</b>`,
  );
  return `<div class="marks">${links.join("")}</div>`;
}

function numberRange(numbers: readonly number[]): string {
  const [first, last] = [numbers[0], numbers.at(-1)];
  return first === last ? String(first) : numbers.length === 2 ? `${first}, ${last}` : `${first}…${last}`;
}

function percent(x: number): string {
  return `${Number(((x / WIDTH) * 100).toFixed(2))}%`;
}

function legend({ timelines_left_out, operations_left_out, faults_left_out, failures }: Verdict): string {
  const colors = [
    ["active", "active (height: share of the time)"],
    ["starting", "starting"],
    ["faint", "arrivals"],
    ["operation", "operation"],
    ["fault", "fault"],
    ["failed", failures.length === 0 ? "failed operation" : "failed expectation, failed operation"],
  ].map(([name, text]) => `<li><i style="background:var(--${name})"></i>${text}</li>`);
  const hidden = [
    [timelines_left_out, "computes"],
    [operations_left_out, "operations"],
    [faults_left_out, "faults"],
  ].flatMap(([count, name]) => (count === 0 ? [] : [`<li>${count} more ${name} are not shown</li>`]));
  return `<ul class="legend">${[...colors, ...hidden].join("")}</ul>`;
}
