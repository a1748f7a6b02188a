// Draws docs/images/report.svg and report-dark.svg: a chart of the report of the guide to autosuspend delays.
// It is the chart that `whatif curve --out` writes, with fixed colors. Needs dist/: node scripts/report-picture.mjs. With
// `--check` it writes nothing and fails if a picture is out of date.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const directory = mkdtempSync(join(tmpdir(), "report-picture-"));
const trace = join(directory, "tools.standin-trace");
const report = join(directory, "report");
const standin = (...args) =>
  execFileSync(process.execPath, ["dist/standin.js", "whatif", ...args], { stdio: "ignore" });
standin(
  "fleet",
  "--computes",
  "20",
  "--days",
  "28",
  "--seed",
  "7",
  "--pattern",
  "office-hours",
  "--out",
  trace,
);
standin("curve", trace, "--cu", "0.25", "--cold-start-worth", "2m", "--out", report);
const svg = readFileSync(join(report, "trade-off.svg"), "utf8");
rmSync(directory, { recursive: true });

// The palettes of the file, in their order: light, dark, print. A picture shows one whatever the system prefers.
const PALETTE = /:root\{([^}]*)\}/g;
const [light, dark] = [...svg.matchAll(PALETTE)].map(([, variables]) => variables);
const withoutPalette = svg.replace(/:root\{[^}]*\}\s*@media[\s\S]*?\}\}\s*@media[\s\S]*?\}\}/, "");
for (const [name, variables] of [
  ["report.svg", light],
  ["report-dark.svg", dark],
]) {
  const colors = new Map(variables.split(";").map((each) => each.slice(2).split(":")));
  const colored = withoutPalette.replaceAll(/var\(--([\w-]+)\)/g, (_, color) => colors.get(color));
  const picture = colored.replace(/ *height: intrinsic;\n/, "");
  const file = join("docs/images", name);
  if (!process.argv.includes("--check")) writeFileSync(file, picture);
  else if (readFileSync(file, "utf8") !== picture) {
    console.error(`${file} is out of date; run node scripts/report-picture.mjs`);
    process.exitCode = 1;
  }
}
