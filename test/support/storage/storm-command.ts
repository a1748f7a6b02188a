import { parseArgs } from "node:util";
import { describeStormFailure, hasCompiler, runStorm } from "./storm-run.ts";

// npm run storm -- [--first <seed>] [--seeds <n>]
const { values } = parseArgs({
  options: { first: { type: "string", default: "1000001" }, seeds: { type: "string", default: "10000" } },
});
if (!hasCompiler()) throw new Error("the storm needs Linux and a C compiler (cc)");
const SEEDS_PER_LINE = 100;
const seeds = Number(values.seeds);
const interrupt = new AbortController();
process.once("SIGINT", () => interrupt.abort());
const { totals, failures } = await runStorm(Number(values.first), seeds, {
  signal: interrupt.signal,
  onSeed: (done) => {
    if (done % SEEDS_PER_LINE === 0) process.stderr.write(`${done} of ${seeds} seeds\n`);
  },
});
for (const failure of failures) process.stdout.write(`${describeStormFailure(failure)}\n\n`);
const { answers, failed, unknown, failures: calls, powerCuts, copies } = totals;
process.stdout.write(
  `${totals.seeds} seeds: ${answers} answers, ${failed} of them 5xx (${unknown} unknown outcomes), ${calls} failed calls, ${copies} snapshots, restores and forks, ${powerCuts} power cuts, ${totals.seeds} kills; ${failures.length} seeds failed\n`,
);
process.exitCode = interrupt.signal.aborted ? 130 : failures.length === 0 ? 0 : 1;
