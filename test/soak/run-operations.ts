// npm run soak:operations -- --minutes 60
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { serve, temporaryDirectory } from "../support/process/process.ts";
import { RandomLife } from "../support/random-operations/random-life.ts";
import { serverClient } from "../support/server/running-server.ts";
import { sizeOf, usedBytes } from "./file-sizes.ts";

const MINUTE_MS = 60_000;
const MIB = 1024 ** 2;
/** Between two samples. */
const SAMPLE_MS = 30_000;
/** Until then the history has not reached its limits. */
const WARM_UP_SHARE = 0.4;
/**
 * Deleted projects can be recovered for 7 days of the world's clock, which are longer than the run. So the files grow
 * with the operations, and not with time.
 */
const ALLOWED_BYTES_PER_OPERATION = 512;
/** When these projects are gone: accounts, keys, and the log of requests. */
const ALLOWED_LEFT_BYTES = 4 * MIB;
/** Short limits, so that the history is deleted again while operations run. */
const SERVE = [
  ...["--clock", "60x", "--pg-port", "none", "--branches-limit", "40", "--log-level", "warn"],
  ...["--keep-history", "1h", "--keep-events", "2000", "--keep-operations", "1h", "--requests-limit", "1000"],
];

const { values } = parseArgs({
  options: {
    minutes: { type: "string" },
    operations: { type: "string" },
    seed: { type: "string", default: "20260101" },
  },
});
const isEndless = values.minutes === undefined && values.operations !== undefined;
const minutes = isEndless ? Number.POSITIVE_INFINITY : Number(values.minutes ?? 60);
const operations = Number(values.operations ?? Number.POSITIVE_INFINITY);
const seed = Number(values.seed);
if (!(minutes > 0 && operations > 0 && Number.isSafeInteger(seed)))
  throw new Error("--minutes, --operations and --seed: expected positive numbers");

const directory = temporaryDirectory();
const served = await serve(directory.path, [...SERVE, "--seed", String(seed)]);
const server = { ...served, ...serverClient(served.ready) };
const startedAt = Date.now();
const life = new RandomLife(server, {
  ...{ seed, suiteLanes: 6, callLanes: 2, operations },
  until: startedAt + minutes * MINUTE_MS,
});
const samples: { bytes: number; operations: number }[] = [];
let isRunning = true;

function sample(): void {
  const bytes = sizeOf(directory.path);
  samples.push({ bytes, operations: life.done });
  const minute = (Date.now() - startedAt) / MINUTE_MS;
  process.stdout.write(
    `minute ${minute.toFixed(1)}: ${life.done} operations, files ${(bytes / MIB).toFixed(1)} MiB\n`,
  );
}

async function sampleRegularly(): Promise<void> {
  while (isRunning) {
    sample();
    await sleep(SAMPLE_MS, undefined, { ref: false });
  }
}

try {
  void sampleRegularly();
  const { counts, failures, findings } = await life.run();
  isRunning = false;
  sample();
  const { body } = await server.sim("GET", "/invariants");
  // Until then, deleted projects can be recovered.
  await server.sim("PUT", "/clock", { mode: "manual" });
  await server.sim("POST", "/clock/advance", { by: "8d" });
  await server.sim("POST", "/compact", { keep: "1h" });
  const leftBytes = usedBytes(directory.path);
  const faults = [
    ...failures.map((failure) => `a lane ended: ${failure}`),
    ...findings.flatMap(({ serverErrors }) => serverErrors.map((error) => `server error: ${error}`)),
    ...findings.flatMap(({ schemaFaults }) =>
      schemaFaults.map((fault) => `not as in the document: ${fault}`),
    ),
    ...findings.flatMap(({ stuckOperations }) => stuckOperations.map((stuck) => `stuck: ${stuck}`)),
    ...findings.flatMap(({ otherFaults }) => otherFaults),
    ...(body.ok ? [] : [`invariants: ${JSON.stringify(body.violations)}`]),
  ];
  const warm = samples[Math.floor(samples.length * WARM_UP_SHARE)] ?? { bytes: 0, operations: 0 };
  const last = samples.at(-1) ?? warm;
  const grown = last.bytes - warm.bytes;
  const allowed = (last.operations - warm.operations) * ALLOWED_BYTES_PER_OPERATION;
  const requests = findings.reduce((sum, finding) => sum + finding.requests, 0);
  const isForgotten = leftBytes <= ALLOWED_LEFT_BYTES;
  const isFlat = grown <= allowed;
  process.stdout.write(
    [
      ...faults,
      JSON.stringify(counts),
      `${isFlat ? "" : "GROWS "}files: ${(grown / MIB).toFixed(1)} MiB more since the warm-up (at most ${(allowed / MIB).toFixed(1)} MiB)`,
      `${isForgotten ? "" : "GROWS "}the world 8 days later: ${(leftBytes / MIB).toFixed(1)} MiB (at most ${ALLOWED_LEFT_BYTES / MIB} MiB)`,
      `${life.done} operations, ${requests} requests, ${faults.length} faults, seed ${seed}`,
      "",
    ].join("\n"),
  );
  process.exitCode = faults.length > 0 || !isFlat || !isForgotten ? 1 : 0;
} finally {
  await served.kill("SIGKILL");
  directory.remove();
}
