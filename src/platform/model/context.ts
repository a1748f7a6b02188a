import type { Random } from "../../kernel/random-port.ts";
import type { SimTime } from "../../kernel/time.ts";
import type { Profile } from "../catalog/defaults-and-limits.ts";

/** Inputs of a decision in addition to the world: the instant, the source of randomness, and the profile. */
export type Context = {
  readonly now: SimTime;
  readonly random: Random;
  readonly profile: Profile;
};
