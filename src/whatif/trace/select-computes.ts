import type { Traffic } from "./known-traffic.ts";

/** Where these computes are in traffic, by their names. Throws a RangeError for one that is not. */
export function computeIndexes({ computes }: Traffic, names: readonly string[]): readonly number[] {
  return names.map((name) => {
    const index = computes.indexOf(name);
    if (index !== -1) return index;
    throw new RangeError(`there is no compute "${name}" in this traffic`);
  });
}

/** Traffic of these computes alone. */
export function trafficOfComputes(traffic: Traffic, indexes: readonly number[]): Traffic {
  const computes = indexes.map((index) => traffic.computes[index] as string);
  return { ...traffic, computes, arrivals: (compute) => traffic.arrivals(indexes[compute] as number) };
}
