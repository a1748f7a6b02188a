// @ts-nocheck
import type { Profile } from "../catalog/profile-defaults-and-limits.ts";
import type { Random } from "./random-port.ts";
import type { SimTime } from "./time.ts";

/** What a decision depends on besides the world: the instant, the source of randomness, and the profile. */
export type Context = {
  readonly now: SimTime;
  readonly random: Random;
  readonly profile: Profile;
};
