import { readFileSync } from "node:fs";
import type { Figure } from "./figure.ts";

/** A ratio that is worse than this share of the earlier one fails the comparison. */
export const TOLERANCE = 0.1;

/** The file to compare with cannot be used. */
export class UnusableFigures extends Error {
  override readonly name = "UnusableFigures";
}

/** A ratio of this run, and of an earlier one. */
type ComparedRatio = {
  readonly figure: string;
  readonly what: string;
  readonly before: number;
  readonly now: number;
  /** Improvement as a share of the earlier ratio; negative if it is worse. */
  readonly gain: number;
  /** Worse beyond the tolerance, also in the better quarter of the rounds. */
  readonly isWorse: boolean;
};

export type Comparison = {
  readonly ratios: readonly ComparedRatio[];
  /** The number of ratios that only one of both runs has. */
  readonly unmatched: number;
};

/**
 * Compares the ratios of two runs. Absolute values are left out, because they depend on the machine.
 */
export function compareFigures(before: readonly Figure[], now: readonly Figure[]): Comparison {
  const earlier = new Map(before.filter(hasRatio).map((figure) => [keyOf(figure), figure]));
  const current = now.filter(hasRatio);
  const ratios = current.flatMap((figure) => {
    const other = earlier.get(keyOf(figure));
    return other === undefined ? [] : [compareRatio(other, figure)];
  });
  return { ratios, unmatched: earlier.size + current.length - 2 * ratios.length };
}

/** The figures that `--json` has printed. */
export function readFigures(path: string): Figure[] {
  let parsed: unknown;
  try {
    parsed = JSON.parse(readFileSync(path, "utf8"));
  } catch (error) {
    throw new UnusableFigures(
      `--compare: cannot read ${path}: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
  const isFigure = (value: unknown) => typeof value === "object" && value !== null && "figure" in value;
  if (!Array.isArray(parsed) || !parsed.every(isFigure))
    throw new UnusableFigures(
      `--compare: ${path} is no list of figures, as npm run bench -- --json prints it`,
    );
  return parsed as Figure[];
}

export function renderComparison({ ratios, unmatched }: Comparison): string {
  const percent = (share: number) => `${share < 0 ? "-" : "+"}${Math.abs(100 * share).toFixed(0)} %`;
  const lines = ratios.map(
    ({ figure, what, before, now, gain, isWorse }) =>
      `${isWorse ? "WORSE " : "      "} ${percent(gain).padStart(6)}  ${before.toPrecision(3)} -> ${now.toPrecision(3)}  ${figure.trim()} (${what})`,
  );
  const worse = ratios.filter(({ isWorse }) => isWorse).length;
  const summary = `${worse} of ${ratios.length} ratios are worse by more than ${100 * TOLERANCE} %`;
  return `${[...lines, unmatched === 0 ? summary : `${summary}; ${unmatched} are in one run only`].join("\n")}\n`;
}

type RatioFigure = Figure & { readonly ratio: number; readonly baseline: { readonly what: string } };

function hasRatio(figure: Figure): figure is RatioFigure {
  return figure.ratio !== undefined && figure.baseline !== undefined;
}

function keyOf({ figure, unit, baseline }: RatioFigure): string {
  return JSON.stringify([figure, unit, baseline.what]);
}

function compareRatio(before: RatioFigure, now: RatioFigure): ComparedRatio {
  const gainOf = (ratio: number) => (isRate(now.unit) ? ratio / before.ratio - 1 : before.ratio / ratio - 1);
  const best = Math.max(...(now.quartiles ?? [now.ratio]).map(gainOf));
  return {
    figure: now.figure,
    what: now.baseline.what,
    before: before.ratio,
    now: now.ratio,
    gain: gainOf(now.ratio),
    isWorse: best < -TOLERANCE,
  };
}

/** More of a rate is better; less of a time or of a size is. */
function isRate(unit: string): boolean {
  return unit.endsWith("/s");
}
