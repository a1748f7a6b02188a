import { COMPUTES, OPERATIONS } from "./computes.ts";
import { AUTHENTICATION, KEYS, PROJECTS } from "./keys-and-projects.ts";
import { CONFIGURATIONS, LIMITS, SIZES } from "./sizes.ts";
import type { Section } from "./statement.ts";
import { AUTOSUSPEND, CACHE, CHANGES_OF_A_COMPUTE, STATES } from "./states.ts";

/** What the platform does, in the order of the page. */
export const SECTIONS: readonly Section[] = [
  KEYS,
  AUTHENTICATION,
  PROJECTS,
  COMPUTES,
  OPERATIONS,
  SIZES,
  CONFIGURATIONS,
  LIMITS,
  AUTOSUSPEND,
  CACHE,
  STATES,
  CHANGES_OF_A_COMPUTE,
];
