// Draws docs/images/growth.svg and growth-dark.svg from the figures of the benchmark `curves`:
//   npm run bench -- --only curves --json > bench/results/curves.json && node scripts/growth-picture.mjs
import { readFileSync, writeFileSync } from "node:fs";

const LIGHT = {
  paper: "#ffffff",
  panel: "#f7f8fa",
  ink: "#1c2330",
  faint: "#5b6474",
  line: "#e2e6ec",
  a: "#3565d4",
};
const DARK = {
  paper: "#11151c",
  panel: "#181e28",
  ink: "#e7ebf2",
  faint: "#a3adbd",
  line: "#2b3442",
  a: "#7ea6ff",
};
const [WIDTH, PANEL_WIDTH, PANEL_HEIGHT, GAP, TOP] = [1_200, 278, 208, 16, 70];
const PLOT = { left: 56, right: 18, top: 62, bottom: 34 };

const CURVES = [
  ["processor time until the first response", "Start, processor time"],
  ["RSS", "Memory (RSS)"],
  ["file", "File"],
  ["processor time of a durable POST", "Durable POST, processor time"],
];
const ROWS = [
  ["computes", "By computes, each started once"],
  ["events", "By events, 1,000 computes"],
];

const figures = JSON.parse(readFileSync("bench/results/curves.json", "utf8"));

function seriesOf(what, noun) {
  const points = [];
  let unit = "";
  let each;
  for (const [index, figure] of figures.entries()) {
    const match = new RegExp(`^${what}, ([\\d,]+) ${noun}$`).exec(figure.figure);
    if (match === null) continue;
    points.push({ x: Number(match[1].replaceAll(",", "")), y: figure.value });
    unit = figure.unit.replace("us", "µs");
    const next = figures[index + 1];
    if (next?.figure.startsWith("  each 1,000")) each = next.value;
  }
  if (points.length === 0)
    throw new Error(`bench/results/curves.json has no figures of "${what}" by ${noun}`);
  return { points, unit, each };
}

function short(value) {
  if (value >= 1_000) return `${value / 1_000}k`.replace("1000k", "1M");
  return String(Number(value.toPrecision(2)));
}

/** The text below the title of a panel: the cost of a thousand more, if it is more than the noise. */
function lawOf({ points, each, unit }, noun) {
  const ys = points.map(({ y }) => y);
  if (Math.max(...ys) < 1.5 * Math.min(...ys)) return "constant";
  return `${short(each)} ${unit} for each 1,000 ${noun}`;
}

function panel(left, top, [what, title], noun, colors) {
  const series = seriesOf(what, noun);
  const { points, unit } = series;
  const xs = points.map(({ x }) => Math.log10(x));
  const ys = points.map(({ y }) => Math.log10(y));
  const [x0, x1] = [Math.floor(xs[0] + 0.02), Math.ceil(xs.at(-1) - 0.1)];
  const [y0, y1] = [Math.floor(Math.min(...ys)), Math.ceil(Math.max(...ys))];
  const toX = (x) => left + PLOT.left + ((x - x0) / (x1 - x0)) * (PANEL_WIDTH - PLOT.left - PLOT.right);
  const toY = (y) =>
    top +
    PANEL_HEIGHT -
    PLOT.bottom -
    ((y - y0) / Math.max(1, y1 - y0)) * (PANEL_HEIGHT - PLOT.top - PLOT.bottom);
  const text = (x, y, content, { fill = colors.faint, size = 13, anchor = "start", weight = 400 } = {}) =>
    `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" fill="${fill}" font-size="${size}" text-anchor="${anchor}" font-weight="${weight}">${content}</text>`;
  const parts = [
    `<rect x="${left}" y="${top}" width="${PANEL_WIDTH}" height="${PANEL_HEIGHT}" rx="10" fill="${colors.panel}" stroke="${colors.line}"/>`,
    text(left + 16, top + 26, title, { fill: colors.ink, size: 15, weight: 600 }),
    text(left + 16, top + 46, lawOf(series, noun)),
  ];
  for (let power = y0; power <= Math.max(y1, y0 + 1); power += 1) {
    parts.push(
      `<path d="M${left + PLOT.left} ${toY(power).toFixed(1)}H${left + PANEL_WIDTH - PLOT.right}" stroke="${colors.line}"/>`,
      text(left + PLOT.left - 8, toY(power) + 4, `${short(10 ** power)} ${unit}`, {
        size: 11,
        anchor: "end",
      }),
    );
  }
  for (let power = x0; power <= x1; power += 1)
    parts.push(text(toX(power), top + PANEL_HEIGHT - 14, short(10 ** power), { size: 11, anchor: "middle" }));
  const at = points.map((_, index) => `${toX(xs[index]).toFixed(1)} ${toY(ys[index]).toFixed(1)}`);
  parts.push(`<path d="M${at.join("L")}" fill="none" stroke="${colors.a}" stroke-width="2.5"/>`);
  for (const [index] of points.entries())
    parts.push(
      `<circle cx="${toX(xs[index]).toFixed(1)}" cy="${toY(ys[index]).toFixed(1)}" r="4" fill="${colors.a}"/>`,
    );
  return parts.join("\n");
}

function draw(colors) {
  const rowHeight = PANEL_HEIGHT + 54;
  const height = TOP + ROWS.length * rowHeight - 20;
  const parts = [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" font-family="ui-sans-serif,system-ui,-apple-system,'Segoe UI',sans-serif">`,
    "<title>What a server costs as its world grows</title>",
    `<rect width="${WIDTH}" height="${height}" rx="14" fill="${colors.paper}"/>`,
  ];
  for (const [row, [noun, heading]] of ROWS.entries()) {
    const top = TOP + row * rowHeight;
    parts.push(
      `<text x="28" y="${top - 18}" fill="${colors.ink}" font-size="19" font-weight="650">${heading}</text>`,
    );
    for (const [column, curve] of CURVES.entries())
      parts.push(panel(20 + column * (PANEL_WIDTH + GAP), top, curve, noun, colors));
  }
  return `${parts.join("\n")}\n</svg>\n`;
}

writeFileSync("docs/images/growth.svg", draw(LIGHT));
writeFileSync("docs/images/growth-dark.svg", draw(DARK));
