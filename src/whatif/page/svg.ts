import * as Plot from "@observablehq/plot";
import { parseHTML } from "linkedom";
import { escapeControls } from "../../kernel/text.ts";
import { around, type Box, type PointLabel, placeLabels, textWidth } from "./label-placement.ts";
import type { Chart } from "./page-layout.ts";
import { INK, PALETTE } from "./palette.ts";

/** Size of a drawing. Each chart is drawn twice: for wide pages and for phones. */
export type Frame = { readonly width: number; readonly isNarrow: boolean };

const WIDE: Frame = { width: 860, isNarrow: false };
const NARROW: Frame = { width: 400, isNarrow: true };
const HEIGHT = 360;
const MARGIN_TOP = 34;
const MARGIN_BOTTOM = 46;
const LEGEND_LINE = 22;
const LINE_RADIUS = 3;

/** A point in the units of the axes. */
type DataPoint = { readonly x: number; readonly y: number };

export type DataLabel = DataPoint &
  Partial<Pick<PointLabel, "radius" | "isStrong" | "isOptional">> & {
    readonly text: string;
    readonly ink: string;
  };

/** `sample`: how the mark looks. */
type LegendEntry = {
  readonly name: string;
  readonly ink: string;
  readonly sample: "area" | "line" | "dashed" | "ring" | "dot";
};

export type ChartDrawing = {
  readonly name: string;
  readonly title: string;
  readonly caption: string;
  readonly plot: (frame: Frame) => Plot.PlotOptions;
  readonly legend?: readonly LegendEntry[];
  /** Labels, placed next to their points without overlapping. */
  readonly labels?: readonly DataLabel[];
  /** Points of lines that labels should not cover. */
  readonly lines?: readonly DataPoint[];
};

/** Draws a chart without a browser. Equal input gives equal bytes. */
export function drawChart(drawing: ChartDrawing): Chart {
  const { name, title, caption } = drawing;
  return { name, title, caption, svg: drawIn(WIDE, drawing), narrowSvg: drawIn(NARROW, drawing) };
}

function drawIn(
  frame: Frame,
  { title, caption, plot, legend = [], labels = [], lines = [] }: ChartDrawing,
): string {
  const { document } = parseHTML("<html></html>");
  const legendParts = legendRows(legend, frame.width);
  const options: Plot.PlotOptions = {
    width: frame.width,
    height: HEIGHT,
    marginLeft: frame.isNarrow ? 56 : 64,
    marginRight: frame.isNarrow ? 24 : 28,
    marginBottom: MARGIN_BOTTOM,
    ...plot(frame),
  };
  const legendHeight = legendParts.rows * LEGEND_LINE;
  const height = options.height ?? HEIGHT;
  const svg = Plot.plot({
    document,
    marginTop: MARGIN_TOP,
    ...options,
    className: "chart",
    style: {
      fontSize: "12px",
      fontFamily: "ui-sans-serif, system-ui, -apple-system, 'Segoe UI', sans-serif",
      background: "transparent",
      color: INK.text,
    },
  });
  svg.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  // The legend is above the plot, at negative y.
  svg.setAttribute("viewBox", `0 ${-legendHeight} ${frame.width} ${height + legendHeight}`);
  svg.setAttribute("height", String(height + legendHeight));
  svg.setAttribute("role", "img");
  svg.setAttribute("aria-label", `${title}. ${caption}`);
  const toPixels = ({ x, y }: DataPoint): DataPoint => ({
    x: Number(svg.scale("x")?.apply(x)),
    y: Number(svg.scale("y")?.apply(y)),
  });
  const area: Box = {
    x: (options.marginLeft ?? 0) + 2,
    y: MARGIN_TOP / 2 + 6,
    width: frame.width - (options.marginLeft ?? 0) - 4,
    height: height - MARGIN_TOP / 2 - 6 - (options.marginBottom ?? 0),
  };
  const added = `${legendParts.svg}${labelsSvg(labels, area, lines, toPixels)}`;
  return escapeControls(svg.toString().replace(/<\/svg>\s*$/, () => `${added}</svg>`));
}

function labelsSvg(
  labels: readonly DataLabel[],
  area: Box,
  lines: readonly DataPoint[],
  toPixels: (point: DataPoint) => DataPoint,
): string {
  if (labels.length === 0) return "";
  const inPixels = labels.map((label) => ({
    radius: 7,
    isStrong: true,
    isOptional: false,
    ...label,
    ...toPixels(label),
  }));
  const obstacles = lines.map(toPixels).map(({ x, y }) => around(x, y, LINE_RADIUS));
  const parts = placeLabels(inPixels, area, obstacles).map(({ label, box, isRemote }) => {
    const [middle, baseline] = [box.x + box.width / 2, box.y + box.height - 4];
    const edge = Math.max(box.x, Math.min(label.x, box.x + box.width));
    const leader = isRemote
      ? `<path d="M${pixel(label.x)} ${pixel(label.y)}L${pixel(edge)} ${pixel(box.y + (box.y > label.y ? 0 : box.height))}" stroke="${label.ink}" stroke-opacity="0.6" aria-hidden="true"/>`
      : "";
    const anchor = box.x >= label.x ? "start" : box.x + box.width <= label.x ? "end" : "middle";
    const x = anchor === "start" ? box.x : anchor === "end" ? box.x + box.width : middle;
    return `${leader}<text x="${pixel(x)}" y="${pixel(baseline)}" text-anchor="${anchor}" fill="${label.ink}" font-weight="${label.isStrong ? 600 : 400}" stroke="${INK.paper}" stroke-width="4" stroke-linejoin="round" paint-order="stroke">${escapeXml(label.text)}</text>`;
  });
  return `<g aria-label="labels">${parts.join("")}</g>`;
}

const SAMPLE_WIDTH = 20;
const LEGEND_GAP = 18;

/** Swatches with names, from left to right, in as many rows as needed. */
function legendRows(
  entries: readonly LegendEntry[],
  width: number,
): { readonly rows: number; readonly svg: string } {
  let [x, row] = [4, 0];
  const parts: string[] = [];
  for (const { name, ink, sample } of entries) {
    const needed = SAMPLE_WIDTH + 6 + textWidth(name, false);
    if (x > 4 && x + needed > width) [x, row] = [4, row + 1];
    const y = row * LEGEND_LINE + 12;
    parts.push(
      `${sampleSvg(sample, ink, x, y)}<text x="${x + SAMPLE_WIDTH + 6}" y="${y + 4}" fill="${INK.text}">${escapeXml(name)}</text>`,
    );
    x += Math.ceil(needed + LEGEND_GAP);
  }
  return entries.length === 0
    ? { rows: 0, svg: "" }
    : {
        rows: row + 1,
        svg: `<g aria-label="legend" text-anchor="start" transform="translate(0,${-(row + 1) * LEGEND_LINE})">${parts.join("")}</g>`,
      };
}

function sampleSvg(sample: LegendEntry["sample"], ink: string, x: number, y: number): string {
  const middle = x + SAMPLE_WIDTH / 2;
  if (sample === "area")
    return `<rect x="${x}" y="${y - 6}" width="${SAMPLE_WIDTH}" height="12" rx="2" fill="${ink}"/>`;
  if (sample === "dot") return `<circle cx="${middle}" cy="${y}" r="6" fill="${ink}"/>`;
  if (sample === "ring")
    return `<circle cx="${middle}" cy="${y}" r="5" fill="${INK.paper}" stroke="${ink}" stroke-width="2"/>`;
  const dashes = sample === "dashed" ? ' stroke-dasharray="5,4"' : "";
  return `<path d="M${x} ${y}h${SAMPLE_WIDTH}" stroke="${ink}" stroke-width="2.5"${dashes}/>`;
}

function pixel(value: number): number {
  return Math.round(value * 10) / 10;
}

const ENTITIES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;" };

function escapeXml(text: string): string {
  return text.replaceAll(/[&<>]/g, (character) => ENTITIES[character] ?? character);
}

/**
 * Prepares an SVG for a page that defines the palette and the font, and whose policy forbids inline styles. The drawing
 * is labelled as a whole; labels of its parts are removed, because an SVG group without a role must not have one.
 */
export function embeddedSvg(svg: string): string {
  return svg
    .replaceAll(/<style>[^<]*<\/style>/g, "")
    .replaceAll(/<[a-z]+ [^>]*>/g, (tag) =>
      tag.replace(/ style="[^"]*"/, "").replace(tag.startsWith("<svg") ? "" : / aria-label="[^"]*"/, ""),
    );
}

/** The chart as an SVG file with its own palette. */
export function standaloneSvg({ svg }: Chart): string {
  const styled = svg.replace("<style>", `<style>${PALETTE} svg{background:var(--paper)} `);
  return `<?xml version="1.0" encoding="UTF-8"?>\n${styled}\n`;
}
