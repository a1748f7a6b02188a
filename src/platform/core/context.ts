import type { Profile } from "../catalog/profile.ts";
import type { Random } from "./random-port.ts";
import type { SimTime } from "./time.ts";

/** What a decision may know beside the world: the instant, and what chance would say. */
export type Context = {
  readonly now: SimTime;
  readonly random: Random;
  readonly profile: Profile;
};
