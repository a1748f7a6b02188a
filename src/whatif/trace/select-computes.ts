import type { Traffic } from "./known-traffic.ts";

/** Where these computes are in traffic, by their names. Throws a RangeError for one that is not. */
export function numbersOf({ computes }: Traffic, names: readonly string[]): readonly number[] {
  return names.map((name) => {
    const number = computes.indexOf(name);
    if (number !== -1) return number;
    throw new RangeError(`there is no compute "${name}" in this traffic`);
  });
}

/** Traffic of these computes alone. */
export function someComputes(traffic: Traffic, numbers: readonly number[]): Traffic {
  const computes = numbers.map((number) => traffic.computes[number] as string);
  return { ...traffic, computes, requests: (compute) => traffic.requests(numbers[compute] as number) };
}
