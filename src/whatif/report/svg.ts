import * as Plot from "@observablehq/plot";
import { parseHTML } from "linkedom";
import { escapeControls } from "../../platform/core/text.ts";
import type { Chart } from "./page-layout.ts";

/** CSS variables that `PALETTE` defines for light and dark screens and for paper. */
export const INK = {
  text: "var(--ink)",
  faint: "var(--faint)",
  line: "var(--line)",
  accent: "var(--accent)",
  accentSoft: "var(--accent-soft)",
  best: "var(--best)",
  current: "var(--current)",
  bound: "var(--bound)",
} as const;

/** Shared by the HTML report and the standalone SVG files. */
export const PALETTE = `:root{--paper:#ffffff;--panel:#f7f8fa;--ink:#1c2330;--faint:#667085;--line:#e2e6ec;--accent:#3565d4;--accent-soft:#dbe5fb;--best:#0f8a5f;--current:#c2410c;--bound:#7c4dbd}
@media (prefers-color-scheme:dark){:root{--paper:#11151c;--panel:#181e28;--ink:#e7ebf2;--faint:#98a2b3;--line:#2b3442;--accent:#7ea6ff;--accent-soft:#22314f;--best:#4cc99a;--current:#ff9a62;--bound:#bf9bf5}}
@media print{:root{--paper:#ffffff;--panel:#f7f8fa;--ink:#1c2330;--faint:#667085;--line:#d5dae2;--accent:#3565d4;--accent-soft:#dbe5fb;--best:#0f8a5f;--current:#c2410c;--bound:#7c4dbd}}`;

const WIDTH = 860;
const HEIGHT = 360;

type ChartDrawing = {
  readonly name: string;
  readonly title: string;
  readonly caption: string;
  readonly plot: Plot.PlotOptions;
};

/** Draws without a browser. The same numbers give the same bytes. */
export function drawChart({ name, title, caption, plot }: ChartDrawing): Chart {
  const { document } = parseHTML("<html></html>");
  const svg = Plot.plot({
    document,
    width: WIDTH,
    height: HEIGHT,
    marginLeft: 64,
    marginRight: 28,
    marginTop: 28,
    marginBottom: 44,
    ...plot,
    className: "chart",
    style: {
      fontSize: "12px",
      fontFamily: "ui-sans-serif, system-ui, -apple-system, 'Segoe UI', sans-serif",
      background: "transparent",
      color: INK.text,
    },
  });
  svg.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  svg.setAttribute("role", "img");
  svg.setAttribute("aria-label", `${title}. ${caption}`);
  return { name, title, caption, svg: escapeControls(svg.toString()) };
}

/** The chart as an SVG file with its own palette. */
export function standaloneSvg({ svg }: Chart): string {
  const styled = svg.replace("<style>", `<style>${PALETTE} svg{background:var(--paper)} `);
  return `<?xml version="1.0" encoding="UTF-8"?>\n${styled}\n`;
}
