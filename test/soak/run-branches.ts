// npm run soak:branches -- --minutes 20 --branches 4
import { parseArgs } from "node:util";
import { serve, temporaryDirectory } from "../support/process/process.ts";
import { serverClient } from "../support/server/running-server.ts";
import { runBranchRounds } from "./branch-rounds.ts";

const MIB = 1024 ** 2;
/** The log of the branch that stays, and the file of the world. */
const ALLOWED_BYTES = 8 * MIB;

const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "20" },
    batches: { type: "string" },
    branches: { type: "string", default: "4" },
  },
});
const [minutes, branches, batches] = [values.minutes, values.branches, values.batches ?? "1"].map(Number);
if (![minutes, branches, batches].every((value) => value !== undefined && value > 0))
  throw new Error("--minutes, --batches and --branches: expected positive numbers");
const directory = temporaryDirectory();
const served = await serve(directory.path, [
  ...["--pg-port", "0", "--connection-uris", "address", "--operations", "immediate"],
]);
try {
  const samples = await runBranchRounds(
    { ...serverClient(served.ready), data: directory.path },
    {
      until: values.batches === undefined ? { minutes: minutes as number } : { batches: batches as number },
      branches: branches as number,
      onSample: ({ round, minute, volumes, bytes }) =>
        process.stdout.write(
          `minute ${minute.toFixed(1)}: ${round} branches, ${volumes} volumes, ${(bytes / MIB).toFixed(1)} MiB\n`,
        ),
    },
  );
  const [first, last] = [samples[0]?.bytes ?? 0, samples.at(-1)?.bytes ?? 0];
  const isFlat = last - first <= ALLOWED_BYTES;
  process.stdout.write(
    `${isFlat ? "" : "GROWS "}${samples.at(-1)?.round} branches: ${((last - first) / MIB).toFixed(1)} MiB more (at most ${ALLOWED_BYTES / MIB} MiB)\n`,
  );
  process.exitCode = isFlat ? 0 : 1;
} finally {
  await served.kill("SIGTERM");
  directory.remove();
}
