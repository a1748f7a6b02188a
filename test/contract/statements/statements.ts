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

/** Statements of the reference that do not hold, and what is instead. docs/reference/postgres.md has them, too. */
export const DEVIATIONS: readonly { readonly statement: string; readonly instead: string }[] = [
  {
    statement:
      "The database postgres has the view of the cache statistics without an installation of the extension.",
    instead:
      "`CREATE EXTENSION platform` is needed in each database, and clients cannot execute it in postgres",
  },
  {
    statement: "In SQL, `SHOW shared_buffers` is 128 MB.",
    instead: "Postgres has 32 MB. The statistics of the control API have 128 MB",
  },
];
