import type { WorldSetting } from "./question.ts";
import type { Traffic } from "./traffic.ts";

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

/** What a world has, of these computes of its traffic alone. */
export function someOfWorld(world: WorldSetting, numbers: readonly number[]): WorldSetting {
  const some = <T>(values: readonly T[]) => numbers.map((number) => values[number] as T);
  return { ...world, delays: some(world.delays), cu: some(world.cu) };
}
