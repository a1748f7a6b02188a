import type { Traffic } from "./traffic.ts";

/** The indexes of computes, by their ids. Throws a RangeError for an unknown id. */
export function computeIndexes({ computes }: Traffic, names: readonly string[]): readonly number[] {
  return names.map((name) => {
    const index = computes.indexOf(name);
    if (index !== -1) return index;
    throw new RangeError(`there is no compute "${name}" in this traffic`);
  });
}

/** Traffic of only these computes. */
export function trafficOfComputes(traffic: Traffic, indexes: readonly number[]): Traffic {
  const computes = indexes.map((index) => traffic.computes[index] as string);
  return { ...traffic, computes, arrivals: (compute) => traffic.arrivals(indexes[compute] as number) };
}
