// Draws docs/images/growth.svg and growth-dark.svg: how the costs of a server grow with computes and events.
// The measurements are those of a run on a quiet machine:
//   npm run --silent bench -- --only curves --json > bench/growth/measured.json && node scripts/growth-picture.mjs
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";

const COSTS = [
  { figure: "processor time until the first response", title: "Start, processor time", unit: "s" },
  { figure: "RSS", title: "Memory (RSS)", unit: "MiB" },
  { figure: "file", title: "File", unit: "MiB" },
  {
    figure: "processor time of a GET of 10 endpoints",
    title: "GET of 10 endpoints, processor time",
    unit: "µs",
  },
  { figure: "processor time of a durable POST", title: "Durable POST, processor time", unit: "µs" },
];
const NOUNS = ["computes", "events"];
const PANEL = { width: 300, height: 150, left: 62, top: 58, right: 22, bottom: 40 };
const MARGIN = { top: 76, side: 20 };
const CELL = {
  width: PANEL.left + PANEL.width + PANEL.right,
  height: PANEL.top + PANEL.height + PANEL.bottom,
};
const WIDTH = 2 * MARGIN.side + NOUNS.length * CELL.width;
const HEIGHT = MARGIN.top + COSTS.length * CELL.height + 10;
/** A slope that changes a cost by less than this part over all sizes is noise. */
const NOISE = 0.35;
const LIGHT = {
  paper: "#ffffff",
  ink: "#1c2330",
  faint: "#667085",
  line: "#e2e6ec",
  mark: "#3565d4",
  law: "#c2410c",
};
const DARK = {
  paper: "#11151c",
  ink: "#e7ebf2",
  faint: "#98a2b3",
  line: "#2b3442",
  mark: "#7ea6ff",
  law: "#ff9a62",
};

const figures = JSON.parse(readFileSync("bench/growth/measured.json", "utf8"));
mkdirSync("docs/images", { recursive: true });
writeFileSync("docs/images/growth.svg", draw(LIGHT));
writeFileSync("docs/images/growth-dark.svg", draw(DARK));

function measured(figure, noun) {
  const pattern = new RegExp(`^${figure}, ([\\d,]+) ${noun}$`);
  return figures.flatMap(({ figure: name, value }) => {
    const match = pattern.exec(name);
    return match === null ? [] : [{ x: Number(match[1].replaceAll(",", "")), y: value }];
  });
}

/** `fixed + each · x`, by least squares of the relative errors; `each` is 0 if the cost does not grow. */
function lawOf(points) {
  const sum = (of) => points.reduce((total, point) => total + of(point) / point.y ** 2, 0);
  const [w, x, y, xx, xy] = [() => 1, (p) => p.x, (p) => p.y, (p) => p.x ** 2, (p) => p.x * p.y].map(sum);
  const each = (w * xy - x * y) / (w * xx - x ** 2);
  const fixed = (y - each * x) / w;
  return each * points.at(-1).x < NOISE * fixed ? { fixed: y / w, each: 0 } : { fixed, each };
}

function draw(color) {
  const parts = [];
  const text = (x, y, value, { fill = color.faint, size = 12, anchor = "start", weight = 400 } = {}) =>
    parts.push(
      `<text x="${round(x)}" y="${round(y)}" fill="${fill}" font-size="${size}" text-anchor="${anchor}" font-weight="${weight}">${value}</text>`,
    );
  const path = (d, stroke, more = "") =>
    parts.push(`<path d="${d}" stroke="${stroke}" fill="none" ${more}/>`);
  parts.push(`<rect width="${WIDTH}" height="${HEIGHT}" fill="${color.paper}" rx="14"/>`);
  text(MARGIN.side, 32, "How the costs of a server grow", { fill: color.ink, size: 18, weight: 650 });
  text(MARGIN.side, 54, "Points are measured, lines are the laws that fit them. Both axes are logarithmic.");
  for (const [row, cost] of COSTS.entries()) {
    const curves = NOUNS.map((noun) => measured(cost.figure, noun));
    // Both panels of a cost have the same vertical axis.
    const values = curves.flat().map(({ y }) => y);
    const [low, high] = [Math.min(...values) / 1.6, Math.max(...values) * 1.6];
    for (const [column, points] of curves.entries()) {
      const x0 = MARGIN.side + column * CELL.width + PANEL.left;
      const y0 = MARGIN.top + row * CELL.height + PANEL.top;
      const [from, to] = [points[0].x / 1.4, points.at(-1).x * 1.4];
      const xOf = (x) => x0 + (Math.log(x / from) / Math.log(to / from)) * PANEL.width;
      const yOf = (y) => y0 + PANEL.height - (Math.log(y / low) / Math.log(high / low)) * PANEL.height;
      text(x0, y0 - 34, cost.title, { fill: color.ink, size: 13, weight: 600 });
      for (const tick of ticks(low, high)) {
        path(`M${x0} ${round(yOf(tick))}h${PANEL.width}`, color.line);
        text(x0 - 8, yOf(tick) + 4, `${amount(tick)} ${cost.unit}`, { anchor: "end", size: 11 });
      }
      for (const { x } of points)
        text(xOf(x), y0 + PANEL.height + 17, compact(x), { anchor: "middle", size: 11 });
      text(x0 + PANEL.width, y0 + PANEL.height + 33, NOUNS[column], { anchor: "end", size: 11 });
      const { fixed, each } = lawOf(points);
      const line = Array.from({ length: 61 }, (_, step) => from * (to / from) ** (step / 60))
        .map((x) => [x, fixed + each * x])
        .filter(([, y]) => y >= low && y <= high)
        .map(([x, y], index) => `${index === 0 ? "M" : "L"}${round(xOf(x))} ${round(yOf(y))}`);
      path(line.join(""), color.law, 'stroke-width="1.6" stroke-dasharray="5 4"');
      for (const { x, y } of points)
        parts.push(`<circle cx="${round(xOf(x))}" cy="${round(yOf(y))}" r="4" fill="${color.mark}"/>`);
      text(x0, y0 - 16, law(fixed, each, cost.unit), {
        size: 12,
        fill: color.law,
      });
    }
  }
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="ui-sans-serif,system-ui,-apple-system,'Segoe UI',sans-serif">
<title>How processor time, memory and the file of a server grow with computes and events</title>
${parts.join("\n")}
</svg>
`;
}

/** The law in words, for a thousand more. */
function law(fixed, each, unit) {
  if (each === 0) return `${significant(fixed)} ${unit}, constant`;
  return `${significant(fixed)} ${unit} + ${significant(1_000 * each)} ${unit} per 1,000`;
}

/** Round values, fewer if the range is wide. */
function ticks(low, high) {
  const steps =
    high / low > 300 ? [1] : high / low > 20 ? [1, 3] : high / low > 6 ? [1, 2, 5] : [1, 1.5, 2, 3, 5, 7];
  const found = [];
  for (let power = Math.floor(Math.log10(low)); 10 ** power <= high; power += 1)
    for (const step of steps) {
      const tick = step * 10 ** power;
      if (tick >= low && tick <= high) found.push(tick);
    }
  return found;
}

function significant(value) {
  return amount(Number(value.toPrecision(2)));
}

function compact(value) {
  return value.toLocaleString("en-US", { notation: "compact" });
}

function amount(value) {
  return value.toLocaleString("en-US", { maximumFractionDigits: 4 });
}

function round(value) {
  return Math.round(value * 10) / 10;
}
