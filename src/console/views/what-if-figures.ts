import type { Figures } from "../client/types.ts";
import { formatNumber } from "../state/format.ts";

export function figure({ figures }: { readonly figures: Figures }, name: string): number {
  return figures[name]?.value ?? 0;
}

/** `−12 %` */
export function change(value: number, before: number): string {
  if (value === before) return "as it is now";
  if (before === 0) return "now 0";
  const percent = ((value - before) / before) * 100;
  return `${percent < 0 ? "−" : "+"}${formatNumber(Math.abs(percent))} %`;
}

/** Half of the 95 % interval: for these computes on other days, or of the start latency if it is random. */
export function uncertainty(
  figures: Figures,
  name: string,
  format: (value: number) => string,
): string | undefined {
  const half = figures[name]?.margin_95 ?? figures[name]?.plus_minus;
  return half === undefined || half === 0 ? undefined : ` ± ${format(half)}`;
}
