import { DAY } from "../../../kernel/time.ts";
import { MINIMUM_EVENTS } from "../../../worlds/retention.ts";
import {
  integerParser,
  parseBackupIntervalOption,
  parseRetentionOption,
} from "../../terminal/option-parsers.ts";
import type { OptionRow } from "./option-table.ts";

const MAX_EVENTS = 1_000_000_000;
const MAX_REQUESTS = 1_000_000;

/** How often worlds are backed up and checked, and what of their history is retained. */
export const RETENTION_OPTIONS = [
  {
    flags: "--backup-every <duration>",
    description:
      "interval of wall-clock time between snapshots of the default world, such as 1h (default: no backups)",
    parse: parseBackupIntervalOption,
  },
  {
    flags: "--scrub-every <duration>",
    description: "interval of wall-clock time between checks of all worlds, such as 1d (default: no checks)",
    parse: parseBackupIntervalOption,
  },
  {
    flags: "--keep-backups <n>",
    description: "number of backups to retain; requires --backup-every (default: 24)",
    parse: integerParser(1, 10_000),
  },
  {
    flags: "--keep-automatic <n>",
    description: "number of automatic snapshots before restores to retain for each world",
    parse: integerParser(1, 10_000),
    default: 10,
  },
  {
    flags: "--keep-history <duration>",
    description:
      "age by the world's clock after which events are deleted, except those of --keep-events; or forever",
    parse: parseRetentionOption,
    default: 90 * DAY,
    defaultText: "90d",
  },
  {
    flags: "--keep-events <n>",
    description: "number of the newest events to retain, however old they are",
    parse: integerParser(0, MAX_EVENTS),
    default: MINIMUM_EVENTS,
  },
  {
    flags: "--keep-operations <duration>",
    description: "age by the world's clock after which finished operations are deleted; or forever",
    parse: parseRetentionOption,
    default: 180 * DAY,
    defaultText: "180d",
  },
  {
    flags: "--requests-limit <n>",
    description: "number of requests to retain in the request log; 0 disables it",
    parse: integerParser(0, MAX_REQUESTS),
    default: 10_000,
  },
] as const satisfies readonly OptionRow[];
