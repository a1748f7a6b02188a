import { Command } from "commander";
import { VERSION } from "./server/version.ts";

/** What each command is for, and where it is. Most of the time that a command takes to start would go to what others need. */
const COMMANDS: Readonly<Record<string, readonly [description: string, load: () => Promise<Command>]>> = {
  serve: [
    "run the double: the imitated API, its state in SQLite, on a clock that you hold",
    async () => (await import("./commands/serve.ts")).serveCommand(),
  ],
  run: [
    "play scenario files on the simulated clock, to a verdict",
    async () => (await import("./commands/run.ts")).runCommand(),
  ],
  record: [
    "turn what happened in a world into a scenario that ends in the same state",
    async () => (await import("./commands/record.ts")).recordCommand(),
  ],
  status: [
    "show every compute: Active or Idle, its size, when it goes to sleep",
    async () => (await import("./commands/status.ts")).statusCommand(),
  ],
  clock: [
    "look at the world's clock, move it, or set how it goes",
    async () => (await import("./commands/clock.ts")).clockCommand(),
  ],
  keys: [
    "create, list and revoke API keys, as the web console does",
    async () => (await import("./commands/keys.ts")).keysCommand(),
  ],
  env: [
    "print exports that public clients read; without a key of yours, makes one",
    async () => (await import("./commands/env.ts")).envCommand(),
  ],
  wait: [
    "wait until the server is ready, or a compute, an operation, a project is where you want it",
    async () => (await import("./commands/wait.ts")).waitCommand(),
  ],
  explain: [
    "say why a compute or an operation is as it is, with the events that prove it",
    async () => (await import("./commands/explain.ts")).explainCommand(),
  ],
  snapshots: [
    "keep a world as it is under a name, and take it back to there; served or not",
    async () => (await import("./commands/snapshots.ts")).snapshotsCommand(),
  ],
  worlds: [
    "fork worlds at any point of their history, list and delete them",
    async () => (await import("./commands/worlds.ts")).worldsCommand(),
  ],
  faults: [
    "have things go wrong in a world: errors, delays, lost connections, failing operations",
    async () => (await import("./commands/faults.ts")).faultsCommand(),
  ],
  replay: [
    "rebuild a world from its journal alone, up to any point, and show it",
    async () => (await import("./commands/replay.ts")).replayCommand(),
  ],
  verify: [
    "fold the journal of a world into an empty one and compare it with the tables, row by row, and with the invariants",
    async () => (await import("./commands/verify.ts")).verifyCommand(),
  ],
  export: [
    "write a world's whole history into one SQLite file, with every secret emptied: fit for a bug report",
    async () => (await import("./commands/export.ts")).exportCommand(),
  ],
  import: [
    "put an exported history, or a snapshot, into a data directory as a world; it is verified first",
    async () => (await import("./commands/import.ts")).importCommand(),
  ],
  compact: [
    "forget events and finished operations that are older; the world stays what it is",
    async () => (await import("./commands/compact.ts")).compactCommand(),
  ],
  drift: [
    "replay read calls against the double and another server of the same API, and compare what they answer",
    async () => (await import("./commands/drift.ts")).driftCommand(),
  ],
  mirror: [
    "copy the inventory of an account (projects, branches, computes, settings; no data, no secrets) into the double or into a seed file",
    async () => (await import("./commands/mirror.ts")).mirrorCommand(),
  ],
  whatif: [
    "ask what another autosuspend delay, policy or size would have cost, in money and in waiting",
    async () => (await import("./commands/whatif.ts")).whatIfCommand(),
  ],
};

/** `words`: the command line. Only commands that are named there can do anything; of the others it is known what they are for. */
export async function createProgram(args: readonly string[]): Promise<Command> {
  const program = new Command("standin")
    .description("a persistent, deterministic stand-in for a hosted Postgres platform's management API")
    .version(VERSION)
    .showHelpAfterError("(see --help)");
  for (const [name, [description, load]] of Object.entries(COMMANDS)) {
    const command = args.includes(name) ? await load() : new Command(name);
    program.addCommand(command.description(description));
  }
  throwInsteadOfExit(program);
  return program;
}

/** So that `main` alone decides how the process ends. */
function throwInsteadOfExit(command: Command): void {
  command.exitOverride();
  for (const child of command.commands) throwInsteadOfExit(child);
}
