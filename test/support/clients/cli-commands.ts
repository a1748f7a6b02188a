import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import type { Cli } from "./cli-bundle.ts";

const require = createRequire(import.meta.url);

/** Where each client defines its commands. Their `--help` is made from the same definitions. */
const COMMANDS_FILES: Readonly<Record<Cli, string>> = {
  neonctl: join(dirname(require.resolve("neonctl/package.json")), "commands/index.js"),
  neon: join(dirname(require.resolve("neon/package.json")), "dist/commands/index.js"),
  "neonctl-newest": join(
    dirname(require.resolve("neonctl-newest/package.json")),
    "node_modules/neon/dist/commands/index.js",
  ),
  "neonctl-oldest": join(dirname(require.resolve("neonctl-oldest/package.json")), "commands/index.js"),
  "neonctl-1": join(dirname(require.resolve("neonctl-1/package.json")), "commands/index.js"),
  "neonctl-2": join(dirname(require.resolve("neonctl-2/package.json")), "commands/index.js"),
};

type Definition = {
  readonly command: string | readonly string[];
  readonly builder?: unknown;
};

/** Every command of a client with its subcommands, such as `vpc endpoint list`, sorted. */
export async function commandsOf(cli: Cli): Promise<readonly string[]> {
  const { default: definitions } = (await import(COMMANDS_FILES[cli])) as {
    default: readonly Definition[];
  };
  return definitions.flatMap(({ command, builder }) => commandsBelow([], command, builder)).sort();
}

function commandsBelow(
  parents: readonly string[],
  command: Definition["command"],
  builder: unknown,
): readonly string[] {
  const [usage = ""] = typeof command === "string" ? [command] : command;
  const [name = ""] = usage.split(" ");
  // `$0` is what a group does without a subcommand.
  const words = name === "$0" ? parents : [...parents, name];
  const below: string[] = [];
  if (typeof builder === "function") builder(recorder(words, below));
  return below.length === 0 ? [words.join(" ")] : below;
}

/** Accepts every call of a builder of yargs, and notes the commands that it adds. */
function recorder(parents: readonly string[], found: string[]): unknown {
  const self: unknown = new Proxy(() => undefined, {
    get: (_, property) => {
      if (property === "then") return undefined;
      if (property !== "command") return () => self;
      return (command: Definition["command"] | Definition, _description: unknown, builder: unknown) => {
        const isWhole = typeof command === "object" && "command" in command;
        found.push(
          ...(isWhole
            ? commandsBelow(parents, command.command, command.builder)
            : commandsBelow(parents, command, builder)),
        );
        return self;
      };
    },
  });
  return self;
}
