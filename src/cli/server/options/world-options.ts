import { DEFAULT_PROFILE } from "../../../platform/catalog/defaults-and-limits.ts";
import {
  integerParser,
  parseClockOption,
  parseHostDomainOption,
  parseInstantOption,
  parseStartDelayOption,
  planLimitParser,
  secretParser,
} from "../../terminal/option-parsers.ts";
import type { OptionRow } from "./option-table.ts";

/** What the default world stores: fixed when it is created, or changed by each start that states another value. */
export const WORLD_OPTIONS = [
  {
    flags: "--clock <mode>",
    description: "clock mode: real, manual, or a factor such as 60x (default for a new world: real)",
    parse: parseClockOption,
  },
  {
    flags: "--start-at <instant>",
    description: "initial time of a new world, ISO 8601 (default: now)",
    parse: parseInstantOption,
  },
  {
    flags: "--seed <n>",
    description: "random seed of a new world (default: a random number, which is printed)",
    parse: integerParser(0, Number.MAX_SAFE_INTEGER),
  },
  {
    flags: "--profile <profile>",
    description: `platform profile of a new world: its sizes, limits and durations; 2024, 2026, or a file of standin account calibrate (default: ${DEFAULT_PROFILE})`,
  },
  {
    flags: "--plan <plan>",
    description: "plan of accounts in a new world (default: paid)",
    choices: ["paid", "free"],
  },
  {
    flags: "--operations <mode>",
    description:
      "whether operations take time or finish before the next request (default for a new world: timed)",
    choices: ["timed", "immediate"],
  },
  {
    flags: "--settle",
    description:
      "finish operations at once; same as --operations immediate. On a manual clock, timers still wait",
    conflicts: "operations",
  },
  {
    flags: "--locks <scope>",
    description:
      "what an operation locks; narrow: the objects that it works on; parallel-branches: the same, but branches of one parent can be created in parallel; project: the whole project (default for a new world: narrow)",
    choices: ["narrow", "parallel-branches", "project"],
  },
  {
    flags: "--durations <kind>",
    description:
      "whether the durations of operations are drawn from distributions or constant (default for a new world: varied)",
    choices: ["varied", "constant"],
  },
  {
    flags: "--answers <kind>",
    description:
      "source of answers where recordings of clients contradict the reference (default for a new world: reference)",
    choices: ["reference", "recorded"],
  },
  {
    flags: "--start-delay <duration>",
    description:
      "time that a compute needs to start: 3s, 1s..5s, 3s~0.5, or profile (default for a new world: profile)",
    parse: parseStartDelayOption,
  },
  {
    flags: "--projects-limit <n>",
    description: "projects per account: a number, or plan (default for a new world: plan)",
    parse: planLimitParser(0),
  },
  {
    flags: "--branches-limit <n>",
    description: "branches per project: a number, or plan (default for a new world: plan)",
    parse: planLimitParser(1),
  },
  {
    flags: "--endpoints-limit <n>",
    description: "computes per project: a number, or plan (default for a new world: plan)",
    parse: planLimitParser(1),
  },
  {
    flags: "--snapshots-limit <n>",
    description: "manual snapshots per project: a number, or plan (default for a new world: plan)",
    parse: planLimitParser(0),
  },
  {
    flags: "--host-domain <name>",
    description: "domain of the compute host names in a new world (default: standin.localhost)",
    parse: parseHostDomainOption,
  },
  {
    flags: "--seed-file <file>",
    description: "YAML file of accounts, keys, projects, branches and computes to create",
  },
  {
    flags: "--api-key <key>",
    description: "API key that must be valid, for CI; prefer the environment variable",
    parse: secretParser("--api-key or STANDIN_API_KEY"),
  },
] as const satisfies readonly OptionRow[];
