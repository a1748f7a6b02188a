// Draws docs/images/overview.svg and overview-dark.svg: a day of three computes, and the cost of every autosuspend delay.
// Every mark comes from the simulator, so the pictures change only with the rules: node scripts/readme-picture.mjs. With
// `--check` it writes nothing and fails if a picture is out of date.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { build } from "esbuild";

const SEED = 7;
const START = Date.parse("2026-01-05T00:00:00Z");
const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const DAYS = 28;
const CURRENT_DELAY = 300;
const COLD_START_S = 300;
const PRICE = 0.222;
const CU = 0.25;
const LANES = [2, 6, 8];
const SHOWN = { from: START + DAY + 7 * HOUR, to: START + DAY + 19 * HOUR };

const directory = mkdtempSync(join("node_modules", ".picture-"));
const outfile = join(directory, "simulator.mjs");
await build({
  stdin: {
    resolveDir: ".",
    loader: "ts",
    contents: `
      export { fleetTraffic } from "./src/whatif/trace/fleet-traffic.ts";
      export { collectParts } from "./src/traffic/recorded/trace/trace.ts";
      export { activeIntervals } from "./src/whatif/replay/active-intervals.ts";
      export { curveOf, pointAt } from "./src/whatif/gap-curve/curve.ts";
      export { emptyGaps, gapsOf, mergeGaps } from "./src/whatif/trace/gaps.ts";
    `,
  },
  bundle: true,
  packages: "external",
  platform: "node",
  format: "esm",
  outfile,
});
const simulator = await import(pathToFileURL(outfile).href);
rmSync(directory, { recursive: true });

const period = { startAt: START, endAt: START + DAYS * DAY };
const traffic = simulator.fleetTraffic({ computes: 12, seed: SEED, patterns: ["office-hours"], period });
const arrivals = traffic.computes.map((_, index) => simulator.collectParts(traffic.arrivals(index)));
const gaps = simulator.emptyGaps(period);
for (const each of arrivals) simulator.mergeGaps(gaps, simulator.gapsOf(each, period));
const curve = simulator.curveOf(gaps);
/** A month has 730 hours, as in the answers of `standin whatif`. */
const dollars = (activeMs) => (activeMs / HOUR) * CU * PRICE * (730 / (DAYS * 24));
const weighted = (point) => point.activeMs + point.coldStarts * COLD_START_S * 1_000;
const delays = Array.from({ length: 3_541 }, (_, index) => index + 60);
const points = delays.map((delay) => ({ delay, ...simulator.pointAt(curve, delay) }));
const best = points.reduce((least, point) => (weighted(point) < weighted(least) ? point : least));
const current = points[CURRENT_DELAY - 60];

const LIGHT = { paper: "#ffffff", panel: "#f7f8fa", ink: "#1c2330", faint: "#667085", line: "#e2e6ec" };
const DARK = { paper: "#11151c", panel: "#181e28", ink: "#e7ebf2", faint: "#98a2b3", line: "#2b3442" };
Object.assign(LIGHT, { active: "#3565d4", soft: "#dbe5fb", best: "#0f8a5f", now: "#c2410c" });
Object.assign(DARK, { active: "#7ea6ff", soft: "#22314f", best: "#4cc99a", now: "#ff9a62" });

const WIDTH = 1_200;
const HEIGHT = 430;
const LEFT = { x: 92, y: 112, width: 450, height: 238 };
const RIGHT = { x: 690, y: 124, width: 430, height: 226 };
const round = (value) => Math.round(value * 10) / 10;

function draw(color) {
  const parts = [];
  const add = (text) => parts.push(text);
  const rect = (x, y, width, height, fill, more = "") =>
    add(
      `<rect x="${round(x)}" y="${round(y)}" width="${round(width)}" height="${round(height)}" fill="${fill}" ${more}/>`,
    );
  const line = (x1, y1, x2, y2, stroke, more = "") =>
    add(
      `<path d="M${round(x1)} ${round(y1)}L${round(x2)} ${round(y2)}" stroke="${stroke}" fill="none" ${more}/>`,
    );
  const text = (x, y, value, { fill = color.faint, size = 15, anchor = "start", weight = 400 } = {}) =>
    add(
      `<text x="${round(x)}" y="${round(y)}" fill="${fill}" font-size="${size}" text-anchor="${anchor}" font-weight="${weight}">${value}</text>`,
    );

  rect(0, 0, WIDTH, HEIGHT, color.paper, 'rx="14"');
  for (const x of [12, 612]) rect(x, 12, 576, HEIGHT - 24, color.panel, `rx="10" stroke="${color.line}"`);

  // A day: one lane per compute.
  text(36, 50, "When computes run", { fill: color.ink, size: 20, weight: 650 });
  text(36, 76, "One day of three computes that suspend after 5 idle minutes");
  const xAt = (at) => LEFT.x + ((at - SHOWN.from) / (SHOWN.to - SHOWN.from)) * LEFT.width;
  for (let at = SHOWN.from; at <= SHOWN.to; at += 2 * HOUR) {
    line(xAt(at), LEFT.y, xAt(at), LEFT.y + LEFT.height, color.line);
    text(xAt(at), LEFT.y + LEFT.height + 24, new Date(at).toISOString().slice(11, 16), {
      anchor: "middle",
      size: 14,
    });
  }
  const laneHeight = LEFT.height / LANES.length;
  for (const [lane, compute] of LANES.entries()) {
    const middle = LEFT.y + (lane + 0.5) * laneHeight;
    text(36, middle + 5, `ep-${lane + 1}`, { fill: color.ink });
    line(LEFT.x, middle, LEFT.x + LEFT.width, middle, color.faint, 'stroke-dasharray="2 5"');
    const { intervals } = simulator.activeIntervals(arrivals[compute], period, CURRENT_DELAY, {
      at: () => 0,
    });
    for (const { period: active } of intervals) {
      if (active.endAt < SHOWN.from || active.startAt > SHOWN.to) continue;
      const [from, to] = [xAt(Math.max(active.startAt, SHOWN.from)), xAt(Math.min(active.endAt, SHOWN.to))];
      rect(from, middle - 17, Math.max(1.5, to - from), 34, color.active, 'rx="2"');
      if (active.startAt >= SHOWN.from) rect(from - 1, middle - 25, 2.4, 8, color.now);
    }
  }
  const legend = LEFT.y + LEFT.height + 52;
  rect(36, legend - 11, 22, 12, color.active, 'rx="2"');
  text(66, legend, "active, billed", { size: 14 });
  rect(186, legend - 11, 2.4, 12, color.now);
  text(198, legend, "cold start", { size: 14 });
  line(296, legend - 5, 320, legend - 5, color.faint, 'stroke-dasharray="2 5"');
  text(330, legend, "suspended, free", { size: 14 });

  // Panel: the cost of every delay.
  text(636, 50, "What another delay would have cost", { fill: color.ink, size: 20, weight: 650 });
  text(636, 76, "Twelve computes, cost of a month, every delay from 1 minute to 1 hour");
  const last = delays.at(-1);
  const xOf = (delay) => RIGHT.x + (Math.log(delay / 60) / Math.log(last / 60)) * RIGHT.width;
  const yOf = (cost) => RIGHT.y + RIGHT.height - (cost / 150) * RIGHT.height;
  for (const cost of [0, 50, 100, 150]) {
    line(RIGHT.x, yOf(cost), RIGHT.x + RIGHT.width, yOf(cost), color.line);
    text(RIGHT.x - 12, yOf(cost) + 5, `$${cost}`, { anchor: "end", size: 14 });
  }
  for (const [delay, label] of [
    [60, "1 min"],
    [300, "5 min"],
    [900, "15 min"],
    [3_600, "1 h"],
  ])
    text(xOf(delay), RIGHT.y + RIGHT.height + 24, label, { anchor: "middle", size: 14 });
  const shape = points.filter((_, index) => index % 6 === 0 || index === points.length - 1);
  const path = shape
    .map(
      (point, index) =>
        `${index === 0 ? "M" : "L"}${round(xOf(point.delay))} ${round(yOf(dollars(point.activeMs)))}`,
    )
    .join("");
  add(`<path d="${path}L${xOf(last)} ${yOf(0)}L${xOf(60)} ${yOf(0)}Z" fill="${color.soft}"/>`);
  add(`<path d="${path}" fill="none" stroke="${color.active}" stroke-width="2.5"/>`);
  const yOfStarts = (perDay) => RIGHT.y + RIGHT.height - (perDay / 900) * RIGHT.height;
  for (const perDay of [0, 300, 600, 900])
    text(RIGHT.x + RIGHT.width + 12, yOfStarts(perDay) + 5, String(perDay), { fill: color.now, size: 14 });
  const starts = shape
    .map(
      ({ delay, coldStarts }, index) =>
        `${index === 0 ? "M" : "L"}${round(xOf(delay))} ${round(yOfStarts(coldStarts / DAYS))}`,
    )
    .join("");
  add(`<path d="${starts}" fill="none" stroke="${color.now}" stroke-width="2.5"/>`);
  const marks = [
    [current, color.ink, "5 min"],
    [best, color.best, `${Math.round(best.delay / 60)} min`],
  ];
  for (const [point, fill, label] of marks) {
    const x = xOf(point.delay);
    const [cost, perDay] = [dollars(point.activeMs), point.coldStarts / DAYS];
    line(x, RIGHT.y + 4, x, RIGHT.y + RIGHT.height, fill, 'stroke-dasharray="4 4"');
    for (const y of [yOf(cost), yOfStarts(perDay)])
      add(
        `<circle cx="${round(x)}" cy="${round(y)}" r="5" fill="${fill}" stroke="${color.panel}" stroke-width="2"/>`,
      );
    const isFirst = point === current;
    text(
      isFirst ? x + 8 : x - 60,
      RIGHT.y - 6,
      `${label}: $${cost.toFixed(0)}, ${Math.round(perDay)} a day`,
      {
        fill,
        anchor: isFirst ? "end" : "start",
        size: 14,
        weight: 600,
      },
    );
  }
  rect(RIGHT.x, legend - 11, 22, 12, color.active, 'rx="2"');
  text(RIGHT.x + 30, legend, "cost", { size: 14 });
  line(RIGHT.x + 90, legend - 5, RIGHT.x + 114, legend - 5, color.now, 'stroke-width="2.5"');
  text(RIGHT.x + 122, legend, "cold starts a day", { size: 14 });
  text(RIGHT.x + RIGHT.width, legend, "autosuspend delay", { anchor: "end", size: 14 });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="ui-sans-serif,system-ui,-apple-system,'Segoe UI',sans-serif">
<title>When computes run, and what another autosuspend delay would have cost</title>
${parts.join("\n")}
</svg>
`;
}

const PICTURES = { "overview.svg": LIGHT, "overview-dark.svg": DARK };
for (const [name, colors] of Object.entries(PICTURES)) {
  const file = join("docs/images", name);
  const svg = draw(colors);
  if (!process.argv.includes("--check")) writeFileSync(file, svg);
  else if (readFileSync(file, "utf8") !== svg) {
    console.error(`${file} is out of date; run node scripts/readme-picture.mjs`);
    process.exitCode = 1;
  }
}
