import { MINUTE } from "../../../kernel/time.ts";
import { integerParser, parseBytesOption, parseIdleTimeOption } from "../../terminal/option-parsers.ts";
import { parseWorldNameOption } from "../../terminal/options.ts";
import type { OptionRow } from "./option-table.ts";

/** Which worlds the server opens, how many and how large, and when it closes them. */
export const HOSTING_OPTIONS = [
  {
    flags: "--accept-loss <world>",
    description: "serve this world even if acknowledged changes are missing from its files",
    parse: parseWorldNameOption,
  },
  {
    flags: "--wal <owner>",
    description:
      "who moves the write-ahead logs into the files: this server (internal), or a program that replicates them (external)",
    choices: ["internal", "external"],
    default: "internal",
  },
  {
    flags: "--max-worlds <n>",
    description: "maximum number of worlds",
    parse: integerParser(1, 100_000),
    default: 500,
  },
  {
    flags: "--max-world-size <size>",
    description: "size of the largest world that can be forked",
    parse: parseBytesOption,
    default: 4 * 1024 ** 3,
    defaultText: "4GiB",
  },
  {
    flags: "--close-idle <duration>",
    description:
      "close a world other than the default after this wall-clock time without a request; 0 for never",
    parse: parseIdleTimeOption,
    default: 10 * MINUTE,
    defaultText: "10m",
  },
  {
    flags: "--expire-worlds <duration>",
    description:
      "delete a world other than the default after this wall-clock time without a request; 0 for never",
    parse: parseIdleTimeOption,
    default: 0,
    defaultText: "0",
  },
] as const satisfies readonly OptionRow[];
