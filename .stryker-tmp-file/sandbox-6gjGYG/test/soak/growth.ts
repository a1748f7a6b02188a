/** What a server uses at one moment, while no request runs. */
// @ts-nocheck

export type SoakSample = {
  readonly minute: number;
  readonly rssBytes: number;
  /** After garbage collection. */
  readonly heapBytes: number;
  readonly descriptors: number;
  /** All files of the data directory. */
  readonly fileBytes: number;
};

type Measure = Exclude<keyof SoakSample, "minute">;
export type Growth = { readonly measure: Measure; readonly perHour: number; readonly measured: number };

const MIB = 1024 ** 2;
/** By how much each measure may grow while it is measured: two samples of the same state differ this much. */
const ALLOWED: Readonly<Record<Measure, number>> = {
  rssBytes: 24 * MIB,
  heapBytes: 4 * MIB,
  descriptors: 4,
  fileBytes: 8 * MIB,
};
/** Until then caches fill, and retention has nothing to delete. */
const WARM_UP_SHARE = 0.4;

/** The growth of each measure after the warm-up: the least-squares slope, and what it makes of the time measured. */
export function growthAfterWarmUp(samples: readonly SoakSample[]): readonly Growth[] {
  const measured = samples.slice(Math.floor(samples.length * WARM_UP_SHARE));
  const minutes = (measured.at(-1)?.minute ?? 0) - (measured[0]?.minute ?? 0);
  return (Object.keys(ALLOWED) as Measure[]).map((measure) => {
    const perMinute = slope(measured.map((sample) => [sample.minute, sample[measure]]));
    return { measure, perHour: perMinute * 60, measured: perMinute * minutes };
  });
}

export function isGrowing({ measure, measured }: Growth): boolean {
  return measured > ALLOWED[measure];
}

/** `heapBytes: 1.2 MiB an hour, 0.4 MiB in the measured time (at most 4 MiB)` */
export function describeGrowth(growth: Growth): string {
  const { measure, perHour, measured } = growth;
  const unit = measure === "descriptors" ? 1 : MIB;
  const [hour, total] = [perHour, measured].map((value) => (value / unit).toFixed(2));
  const name = unit === 1 ? "" : " MiB";
  return `${isGrowing(growth) ? "GROWS " : ""}${measure}: ${hour}${name} an hour, ${total}${name} in the measured time (at most ${ALLOWED[measure] / unit}${name})`;
}

function slope(points: readonly (readonly [number, number])[]): number {
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const x = mean(points.map(([minute]) => minute));
  const y = mean(points.map(([, value]) => value));
  const variance = points.reduce((sum, [minute]) => sum + (minute - x) ** 2, 0);
  if (variance === 0) return 0;
  return points.reduce((sum, [minute, value]) => sum + (minute - x) * (value - y), 0) / variance;
}
