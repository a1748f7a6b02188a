import { fileURLToPath } from "node:url";
import { isMainThread } from "node:worker_threads";
import { evaluateScript } from "../../compiled-code/evaluate-script.ts";

/** The file of the bundled command, next to this one. */
declare const COMMAND_FILE: string;

/** The commands that run the most code. The others share a file of compiled code. */
const LARGE_COMMANDS = ["serve", "run", "whatif"];

type CommandBundle = typeof import("./bundle.ts");

let loaded: CommandBundle | undefined;

/** Evaluates the bundle of the command. Threads read the compiled code of their command. */
export function loadCommand(): CommandBundle {
  loaded ??= evaluateScript(fileURLToPath(new URL(COMMAND_FILE, import.meta.url)), {
    part: LARGE_COMMANDS.find((command) => command === process.argv[2]) ?? "other",
    stores: isMainThread,
  }) as CommandBundle;
  return loaded;
}
