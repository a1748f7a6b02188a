import { hostname } from "node:os";
import { resolve } from "node:path";
import { PROFILES } from "../../platform/catalog/defaults-and-limits.ts";
import { realPathWithin } from "../terminal/path-within.ts";

/** Both commands of which a part can be answered. */
const COMMANDS = ["compare", "backtest"];

/**
 * The options that a part may have, and what their values are. None of them writes a file or contacts a server. A
 * test compares them with the options of both commands.
 */
export const PART_OPTIONS: Readonly<Record<string, "switch" | "value" | "profile">> = {
  ...{ "cpu-share": "value", "ignore-waits-of": "value" },
  ...{ json: "switch", strict: "switch" },
  ...{ present: "value", profile: "profile", plan: "value" },
  ...{ price: "value", prices: "value", "price-plan": "value" },
  ...{ cu: "value", "cold-start-worth": "value", "wait-worth": "value", "start-latency": "value" },
  ...{ seed: "value", policy: "value", replications: "value", fold: "value", shard: "value" },
  ...{ compute: "value", from: "value", to: "value" },
  ...{ format: "value", map: "value", preset: "value", endpoint: "value", "time-zone": "value" },
  ...{ "time-unit": "value", "duration-unit": "value", duration: "value", "no-duration": "switch" },
  ...{ silence: "value" },
};

/** Longest argument, and largest number of them. */
const MAX_ARGUMENT_CHARACTERS = 4_096;
const MAX_ARGUMENTS = 1_000;

/** The job may not be answered. The message is for the user of the command. */
export class RejectedPart extends Error {
  override readonly name = "RejectedPart";
}

/** Directory and arguments of standin with which a part is answered. */
export type CheckedPart = { readonly directory: string; readonly args: readonly string[] };

/**
 * Checks the arguments of a part against the list, and that everything that it reads is in the directory `traces` of
 * this worker, links resolved. Throws a `RejectedPart`.
 */
export function checkedPart(
  part: { readonly args: readonly string[]; readonly directory: string },
  traces: string | undefined,
): CheckedPart {
  const [group, command = "", ...rest] = part.args;
  if (group !== "whatif" || !COMMANDS.includes(command))
    throw new RejectedPart(`a worker answers parts of whatif ${COMMANDS.join(" and ")} only`);
  if (rest.length > MAX_ARGUMENTS || rest.some((one) => one.length > MAX_ARGUMENT_CHARACTERS))
    throw new RejectedPart("the part has too many or too long arguments");
  if (traces === undefined)
    throw new RejectedPart(
      `the worker on ${hostname()} reads no trace files; start it with --traces <dir>, the directory that has them`,
    );
  const directory = fileWithin(traces, traces, part.directory);
  const { options, files } = parsed(rest);
  for (const [name, value] of options)
    if (PART_OPTIONS[name] === "profile" && !Object.hasOwn(PROFILES, value ?? ""))
      fileWithin(traces, directory, value ?? "");
  for (const file of files) fileWithin(traces, directory, file);
  return {
    directory,
    args: [
      ...["whatif", command],
      ...options.map(([name, value]) => (value === undefined ? `--${name}` : `--${name}=${value}`)),
      ...["--", ...files],
    ],
  };
}

function parsed(args: readonly string[]): {
  readonly options: readonly (readonly [name: string, value: string | undefined])[];
  readonly files: readonly string[];
} {
  const options: [string, string | undefined][] = [];
  const files: string[] = [];
  for (let index = 0; index < args.length; index += 1) {
    const argument = args[index] as string;
    if (argument === "--") return { options, files: [...files, ...args.slice(index + 1)] };
    if (!argument.startsWith("-")) {
      files.push(argument);
      continue;
    }
    const [, name = "", value] = /^--([a-z-]+)(?:=(.*))?$/s.exec(argument) ?? [];
    const kind = Object.hasOwn(PART_OPTIONS, name) ? PART_OPTIONS[name] : undefined;
    if (kind === undefined) throw new RejectedPart(`a part cannot have the argument ${argument}`);
    if (kind === "switch") {
      if (value !== undefined) throw new RejectedPart(`the option --${name} of a part has a value`);
      options.push([name, undefined]);
      continue;
    }
    if (value === undefined) index += 1;
    const given = value ?? args[index];
    if (given === undefined) throw new RejectedPart(`the option --${name} of a part has no value`);
    options.push([name, given]);
  }
  return { options, files };
}

/** The real path of an existing file below `root`. The error is the same for all others, existing or not. */
function fileWithin(root: string, directory: string, file: string): string {
  const real = realPathWithin(root, directory, file);
  if (real !== undefined) return real;
  throw new RejectedPart(
    `${resolve(directory, file)} does not exist on ${hostname()} below ${root}, the directory of --traces; give all workers the same files there`,
  );
}
