import type { Figure, Target } from "./figure.ts";

export const HEADS = ["figure", "value", "baseline", "ratio", "target", "reached"] as const;

/** Renders a plain-text table with one line per figure. */
export function renderTable(figures: readonly Figure[]): string {
  const rows = [[...HEADS], ...figures.map(cells)];
  const widths = HEADS.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const lines = rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd(),
  );
  lines.splice(1, 0, widths.map((width) => "-".repeat(width)).join("  "));
  return `${lines.join("\n")}\n`;
}

/** The columns of a figure, in the order of the heads. */
export function cells({ figure, unit, value, baseline, ratio, target, reached }: Figure): string[] {
  return [
    figure,
    `${amount(value)} ${unit}`,
    baseline === undefined ? "-" : `${amount(baseline.value)} (${baseline.what})`,
    ratio === undefined ? "-" : `${amount(ratio)} x`,
    target === undefined ? "-" : describeTarget(target, unit),
    reached === undefined ? "-" : reached ? "yes" : "NO",
  ];
}

function describeTarget(target: Target, unit: string): string {
  const [sign, limit] = "atLeast" in target ? [">=", target.atLeast] : ["<=", target.atMost];
  return `${sign} ${amount(limit)} ${target.of === "ratio" ? "x" : unit}`;
}

/** About three significant digits. */
function amount(value: number): string {
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  return value.toLocaleString("en-US", { maximumFractionDigits: digits });
}
