import type { Profile } from "../catalog/profile.ts";
import type { Chance } from "./random-port.ts";
import type { SimTime } from "./time.ts";

/** What a decision may know beside the world: the instant, and what chance would say. */
export type Context = {
  readonly now: SimTime;
  readonly chance: Chance;
  readonly profile: Profile;
};
