import type { Benchmark } from "./benchmark.ts";
import { account } from "./benchmarks/account.ts";
import { advancePause } from "./benchmarks/advance-pause.ts";
import { advice } from "./benchmarks/advice.ts";
import { cell } from "./benchmarks/cell.ts";
import { controlAnswers } from "./benchmarks/control-answers.ts";
import { curves } from "./benchmarks/curves.ts";
import { decisions } from "./benchmarks/decisions.ts";
import { durableWrites } from "./benchmarks/durable-writes.ts";
import { firstCalls } from "./benchmarks/first-calls.ts";
import { fleet } from "./benchmarks/fleet.ts";
import { fork } from "./benchmarks/fork.ts";
import { idleMemory } from "./benchmarks/idle-memory.ts";
import { inProcess } from "./benchmarks/in-process.ts";
import { memoryGrowth } from "./benchmarks/memory-growth.ts";
import { peers } from "./benchmarks/peers.ts";
import { postgres } from "./benchmarks/postgres.ts";
import { readLatencyUnderWrites } from "./benchmarks/read-latency-under-writes.ts";
import { readThroughput } from "./benchmarks/read-throughput.ts";
import { replay } from "./benchmarks/replay.ts";
import { simulatedDay } from "./benchmarks/simulated-day.ts";
import { startUp } from "./benchmarks/start-up.ts";
import { tracing } from "./benchmarks/tracing.ts";
import { whatifFiles } from "./benchmarks/whatif-files.ts";
import { whatifKernels } from "./benchmarks/whatif-kernels.ts";

// Start and idle memory come first, before other benchmarks fill the caches of the machine.
export const BENCHMARKS: readonly Benchmark[] = [
  startUp,
  idleMemory,
  inProcess,
  readThroughput,
  firstCalls,
  durableWrites,
  tracing,
  readLatencyUnderWrites,
  advancePause,
  controlAnswers,
  simulatedDay,
  fleet,
  replay,
  fork,
  memoryGrowth,
  cell,
  postgres,
  whatifKernels,
  whatifFiles,
  decisions,
  advice,
  account,
  peers,
  curves,
];
