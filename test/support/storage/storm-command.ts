import { parseArgs } from "node:util";
import { describeStormFailure, hasCompiler, runStorm } from "./storm-run.ts";

const HELP = `Usage: npm run storm -- [options]

Runs seeds of the storage simulator: calls of the system fail, the process is killed, and the power is cut.

  --kind <kind>   worlds (default) or volumes
  --first <seed>  the first seed (default: 1000001)
  --seeds <n>     how many seeds (default: 10000)

Exits with 1 if a seed fails, and prints the command that repeats it.

  npm run storm -- --first 4711 --seeds 1
`;
const { values } = parseArgs({
  options: {
    kind: { type: "string", default: "worlds" },
    first: { type: "string", default: "1000001" },
    seeds: { type: "string", default: "10000" },
    help: { type: "boolean", short: "h", default: false },
  },
});
if (values.help) {
  process.stdout.write(HELP);
  process.exit();
}
if (!hasCompiler()) throw new Error("the storm needs Linux and a C compiler (cc)");
const { kind } = values;
if (kind !== "worlds" && kind !== "volumes") throw new Error("--kind is worlds or volumes");
const SEEDS_PER_LINE = 100;
const seeds = Number(values.seeds);
const interrupt = new AbortController();
process.once("SIGINT", () => interrupt.abort());
const options = {
  signal: interrupt.signal,
  onSeed: (done: number) => {
    if (done % SEEDS_PER_LINE === 0) process.stderr.write(`${done} of ${seeds} seeds\n`);
  },
};
const first = Number(values.first);
const { done, failures } = kind === "worlds" ? await stormOfWorlds() : await stormOfVolumes();
for (const failure of failures) process.stdout.write(`${describeStormFailure(kind, failure)}\n\n`);
process.stdout.write(`${done}; ${failures.length} seeds failed\n`);
process.exitCode = interrupt.signal.aborted ? 130 : failures.length === 0 ? 0 : 1;

async function stormOfWorlds() {
  const { totals, failures } = await runStorm("worlds", first, seeds, options);
  const { answers = 0, failed = 0, unknown = 0, failures: calls = 0, powerCuts = 0, copies = 0 } = totals;
  const done = `${totals.seeds} seeds: ${answers} answers, ${failed} of them 5xx (${unknown} unknown outcomes), ${calls} failed calls, ${copies} snapshots, restores and forks, ${powerCuts} power cuts, ${totals.seeds} kills`;
  return { done, failures };
}

async function stormOfVolumes() {
  const { totals, failures } = await runStorm("volumes", first, seeds, options);
  const { steps = 0, failed = 0, failures: calls = 0, powerCuts = 0 } = totals;
  const done = `${totals.seeds} seeds: ${steps} changes of volumes, ${failed} of them failed, ${calls} failed calls, ${powerCuts} power cuts, ${totals.seeds} kills`;
  return { done, failures };
}
