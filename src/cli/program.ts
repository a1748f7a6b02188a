import { Command } from "commander";
import { layOutHelp } from "./docs/help-layout.ts";
import { VERSION } from "./server/version.ts";
import { refuseRepeatedOptions } from "./terminal/options.ts";
import { usageMessage } from "./terminal/usage-errors.ts";

/**
 * Each command with its description and loader. Only the command that runs is loaded, which keeps startup
 * fast.
 */
const COMMANDS: Readonly<Record<string, readonly [description: string, load: () => Promise<Command>]>> = {
  serve: [
    "run the simulator: the management API over HTTP, with persistent state and a controllable clock",
    async () => (await import("./commands/serve.ts")).serveCommand(),
  ],
  run: [
    "run scenario files in simulated time and report whether they pass",
    async () => (await import("./commands/run.ts")).runCommand(),
  ],
  worker: [
    "run the jobs of standin run, whatif compare and whatif backtest with --queue",
    async () => (await import("./queue/worker-command.ts")).workerCommand(),
  ],
  report: [
    "merge the JSON reports of standin run --shard into one",
    async () => (await import("./run/report-command.ts")).reportCommand(),
  ],
  record: [
    "record the history of a world as a scenario that ends in the same state",
    async () => (await import("./commands/record.ts")).recordCommand(),
  ],
  status: [
    "list computes with their status, size, connections and time until suspend",
    async () => (await import("./commands/status.ts")).statusCommand(),
  ],
  open: [
    "open the web console of a running server in a browser",
    async () => (await import("./commands/open.ts")).openCommand(),
  ],
  clock: [
    "show, set or advance the clock of a world",
    async () => (await import("./commands/clock.ts")).clockCommand(),
  ],
  keys: ["create, list and revoke API keys", async () => (await import("./commands/keys.ts")).keysCommand()],
  exec: [
    "run a command against a temporary server, and exit with the status of the command",
    async () => (await import("./commands/exec.ts")).execCommand(),
  ],
  env: [
    "print shell exports for public API clients, and for Postgres clients of a branch",
    async () => (await import("./commands/env.ts")).envCommand(),
  ],
  psql: [
    "run psql against a branch of the running server",
    async () => (await import("./commands/psql.ts")).psqlCommand(),
  ],
  hosts: [
    "write the host names of computes to the hosts file, and check them",
    async () => (await import("./commands/hosts.ts")).hostsCommand(),
  ],
  engines: [
    "list, install and remove versions of Postgres",
    async () => (await import("./commands/engines.ts")).enginesCommand(),
  ],
  doctor: [
    "check that this machine and the data directory are ready for a server",
    async () => (await import("./commands/doctor.ts")).doctorCommand(),
  ],
  wait: [
    "wait for the server to be ready, or for a compute, operation or project to reach a state",
    async () => (await import("./commands/wait.ts")).waitCommand(),
  ],
  stop: [
    "stop the server of a data directory",
    async () => (await import("./commands/stop.ts")).stopCommand(),
  ],
  activity: [
    "report that a client used a compute, as if a query had arrived there",
    async () => (await import("./commands/activity.ts")).activityCommand(),
  ],
  events: [
    "print the events of a world, or follow them",
    async () => (await import("./commands/events.ts")).eventsCommand(),
  ],
  requests: [
    "print the requests that were sent to a world, or follow them",
    async () => (await import("./commands/requests.ts")).requestsCommand(),
  ],
  explain: [
    "explain why a compute or operation is in its current state, and list the events that led to it",
    async () => (await import("./commands/explain.ts")).explainCommand(),
  ],
  snapshots: [
    "create, list, restore and delete snapshots of a world",
    async () => (await import("./commands/snapshots.ts")).snapshotsCommand(),
  ],
  worlds: [
    "fork, list and delete worlds",
    async () => (await import("./commands/worlds.ts")).worldsCommand(),
  ],
  faults: [
    "inject faults: errors, delays, lost connections and failed operations",
    async () => (await import("./commands/faults.ts")).faultsCommand(),
  ],
  replay: [
    "rebuild a world from its journal, up to any point in its history, and print it",
    async () => (await import("./commands/replay.ts")).replayCommand(),
  ],
  verify: [
    "check that the stored state of a world matches its journal and satisfies all invariants",
    async () => (await import("./commands/verify.ts")).verifyCommand(),
  ],
  scrub: [
    "check all worlds of a data directory in the background, as verify does",
    async () => (await import("./commands/scrub.ts")).scrubCommand(),
  ],
  export: [
    "export the history of a world to one file without secrets, suitable for a bug report",
    async () => (await import("./commands/export.ts")).exportCommand(),
  ],
  import: [
    "import an exported history or a snapshot into a data directory as a new world",
    async () => (await import("./commands/import.ts")).importCommand(),
  ],
  compact: [
    "delete old events and finished operations from the history of a world",
    async () => (await import("./commands/compact.ts")).compactCommand(),
  ],
  drift: [
    "send the same GET requests to standin and to another server of the same API, and compare the responses",
    async () => (await import("./commands/drift.ts")).driftCommand(),
  ],
  account: [
    "read the history of an account's computes, for what-if commands",
    async () => (await import("./commands/account.ts")).accountCommand(),
  ],
  shadow: [
    "compare the behavior of an account's computes with the rules of standin",
    async () => (await import("./commands/shadow.ts")).shadowCommand(),
  ],
  mirror: [
    "copy the projects, branches, computes and settings of an account to standin or to a seed file",
    async () => (await import("./commands/mirror.ts")).mirrorCommand(),
  ],
  docs: [
    "print the address of a page of the documentation, or open it",
    async () => (await import("./commands/docs.ts")).docsCommand(),
  ],
  init: [
    "write a scenario, a seed file and a test to the current directory",
    async () => (await import("./commands/init.ts")).initCommand(),
  ],
  completion: [
    "print a script that completes commands in bash, zsh or fish",
    async () =>
      (await import("./commands/completion.ts")).completionCommand(() =>
        createProgram(Object.keys(COMMANDS)),
      ),
  ],
  advise: [
    "recommend what to change to lower the bill: delay, size, plan, and clients that keep computes active",
    async () => (await import("./commands/whatif/advise-command.ts")).adviseCommand(),
  ],
  whatif: [
    "estimate the cost and wait times of other autosuspend delays, policies and compute sizes",
    async () => (await import("./commands/whatif/whatif.ts")).whatIfCommand(),
  ],
};

/**
 * Builds the program. Only commands named in `args` are loaded; the others have a description and no action.
 */
export async function createProgram(args: readonly string[]): Promise<Command> {
  const program = new Command("standin")
    .description("a persistent, deterministic simulator of a hosted Postgres platform's management API")
    .version(VERSION)
    .showHelpAfterError("(run with --help for usage)");
  for (const [name, [description, load]] of Object.entries(COMMANDS)) {
    const command = args.includes(name) ? await load() : new Command(name);
    program.addCommand(command.description(description));
  }
  layOutHelp(program);
  unifyErrors(program);
  refuseRepeatedOptions(program);
  return program;
}

/**
 * Makes commander throw, so that `main` alone sets the exit status, and gives its errors the prefix of all
 * others.
 */
function unifyErrors(command: Command): void {
  command.exitOverride();
  const { outputError = (text, write) => write(text) } = command.configureOutput();
  command.configureOutput({
    outputError: (text, write) =>
      outputError(text.startsWith("(") ? text : `standin: ${usageMessage(text)}\n`, write),
  });
  for (const child of command.commands) unifyErrors(child);
}
