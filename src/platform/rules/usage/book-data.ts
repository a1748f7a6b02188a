import { HOUR } from "../../../kernel/time.ts";
import { sumOfData } from "../../model/data-traffic.ts";
import type { Usage } from "../../model/usage.ts";
import { ZERO_USAGE } from "../../model/usage-totals.ts";
import type { World } from "../../world/world.ts";
import { addInterval, type DataInterval, usageWithin } from "./usage-periods.ts";

/** Adds the data usage of an interval to the totals and the hourly rows of a branch or project. */
export function bookData(world: World, id: string, interval: DataInterval): void {
  const usage: Usage = world.usage.get(id) ?? { id, ...ZERO_USAGE };
  const { from, to } = interval;
  const { hour } = usage;
  const isWithin = hour !== undefined && from >= hour.hour * HOUR && to <= (hour.hour + 1) * HOUR;
  const newHour =
    isWithin || world.settings.hourlyUsage !== true ? {} : { hour: addInterval(world, usage, interval) };
  world.usage.set({ ...usage, ...newHour, ...sumOfData(usage, usageWithin(interval, from, to)) });
}
