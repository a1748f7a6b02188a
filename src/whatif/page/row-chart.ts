import * as Plot from "@observablehq/plot";
import { threeDigits } from "../units/number-format.ts";
import type { Frame } from "./svg.ts";

const NAME_HEIGHT = 18;
const LONGEST_NAME = 26;
const MARGIN_TOP = 8;
const AXIS_HEIGHT = 54;

type RowOptions = {
  readonly names: readonly string[];
  /** Height of a row in pixels, without the name above it in a narrow drawing. */
  readonly rowHeight: number;
  /** Space for the names in a wide drawing, in pixels. A narrow drawing has each name above its row. */
  readonly marginLeft: number;
};

/** The layout of a chart with one row per name. */
export function rowLayout(frame: Frame, { names, rowHeight, marginLeft }: RowOptions) {
  const step = rowHeight + (frame.isNarrow ? NAME_HEIGHT : 0);
  return {
    marginTop: MARGIN_TOP,
    height: AXIS_HEIGHT + names.length * step,
    marginLeft: frame.isNarrow ? 16 : marginLeft,
    y: { label: null, domain: names, axis: null },
    /** Space above and below a bar, in pixels. */
    insets: { insetTop: frame.isNarrow ? NAME_HEIGHT : 4, insetBottom: 4 },
    /** Moves dots and ticks to the middle of the bars. */
    dy: frame.isNarrow ? (NAME_HEIGHT - 4) / 2 : 0,
    axis: Plot.axisY({
      domain: names,
      tickSize: 0,
      tickPadding: frame.isNarrow ? 0 : 8,
      label: null,
      ...(frame.isNarrow ? { textAnchor: "start", dy: -step / 2 + 8 } : {}),
    } as Plot.AxisYOptions),
  };
}

/** The x axis of a chart with one row per name. */
export function amountAxis(
  { isNarrow }: Pick<Frame, "isNarrow">,
  label: string,
  tickFormat: (value: number) => string = threeDigits,
): Plot.ScaleOptions {
  return { label, grid: true, nice: true, zero: true, ticks: isNarrow ? 4 : 8, tickFormat };
}

/** Keeps the beginning and the end, which differ between names. */
export function shortenedName(name: string): string {
  return name.length <= LONGEST_NAME ? name : `${name.slice(0, 12)}…${name.slice(-13)}`;
}
