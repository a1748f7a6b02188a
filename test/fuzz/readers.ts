import { readFileSync, writeFileSync } from "node:fs";
import { performance } from "node:perf_hooks";
import { uniform } from "../../src/kernel/random-port.ts";
import { randomFrom } from "../../src/simulation/random.ts";
import { spawnStandin, temporaryDirectory } from "../support/process/process.ts";
import { formatOf, sampleFiles } from "./sample-files.ts";

/** A reader that needs longer than this for a small file is interrupted, and must end then. */
const PATIENCE_MS = 5_000;
/** How long a reader may take to end after Ctrl-C. */
const MAX_INTERRUPT_MS = 100;
/** The end of a process takes time of its own, which is not the reader's. */
const PROCESS_END_MS = 150;

type ReaderFigures = {
  files: number;
  read: number;
  rejected: number;
  interrupted: number;
  maxInterruptMs: number;
};

/** Reads damaged files with `standin whatif import`, each with a time limit and Ctrl-C. */
export async function fuzzReaders({
  files,
  seed,
  patienceMs = PATIENCE_MS,
}: {
  readonly files: number;
  readonly seed: number;
  readonly patienceMs?: number;
}): Promise<ReaderFigures> {
  const directory = temporaryDirectory();
  const figures: ReaderFigures = { files: 0, read: 0, rejected: 0, interrupted: 0, maxInterruptMs: 0 };
  try {
    const samples = [...(await sampleFiles(directory.path))];
    for (let number = 0; number < files; number += 1) {
      const [name, sample] = samples[number % samples.length] as [string, Buffer];
      const path = `${directory.path}/${number}-${name}`;
      writeFileSync(path, damaged(sample, seed, number));
      const repeat = () =>
        `repeat with: npm run fuzz -- --requests 0 --files ${number + 1} --seed ${seed}\n${name}: ${readFileSync(path).toString("base64").slice(0, 200)}…`;
      await readDamaged(path, { figures, repeat, patienceMs });
      figures.files += 1;
    }
    return figures;
  } finally {
    directory.remove();
  }
}

type ReadOptions = {
  readonly figures: ReaderFigures;
  readonly repeat: () => string;
  readonly patienceMs: number;
};

async function readDamaged(path: string, { figures, repeat, patienceMs }: ReadOptions): Promise<void> {
  const importing = spawnStandin([
    "whatif",
    "import",
    path,
    ...formatOf(path),
    "--out",
    `${path}.out.standin-trace`,
  ]);
  const ended = importing.ended.then((code) => ({ code }));
  let timer: NodeJS.Timeout | undefined;
  const patience = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), patienceMs);
  });
  const first = await Promise.race([ended, patience]);
  clearTimeout(timer);
  if (first !== undefined) {
    if (first.code !== 0 && first.code !== 1)
      throw new Error(`ended with ${first.code}: ${importing.stderr()}\n${repeat()}`);
    if (importing.stderr().includes("internal error")) throw new Error(`${importing.stderr()}\n${repeat()}`);
    figures[first.code === 0 ? "read" : "rejected"] += 1;
    return;
  }
  const interruptedAt = performance.now();
  importing.process.kill("SIGINT");
  const giveUp = setTimeout(() => importing.process.kill("SIGKILL"), PATIENCE_MS);
  await ended;
  clearTimeout(giveUp);
  const interruptMs = performance.now() - interruptedAt;
  figures.interrupted += 1;
  figures.maxInterruptMs = Math.max(figures.maxInterruptMs, interruptMs);
  if (interruptMs > MAX_INTERRUPT_MS + PROCESS_END_MS)
    throw new Error(`took ${interruptMs} ms to end after Ctrl-C\n${repeat()}`);
}

/** Some bits flipped, some bytes replaced, or the end missing: drawn from seed and number. */
function damaged(sample: Buffer, seed: number, number: number): Buffer {
  const stream = randomFrom(seed).stream("damage", number);
  const random = { next: () => uniform(stream) };
  const bytes = Buffer.from(sample);
  const changes = 1 + Math.floor(random.next() * 3);
  for (let change = 0; change < changes; change += 1) {
    // Half of the changes are in the last quarter, where Parquet has its metadata.
    const from = random.next() < 0.5 ? 0 : Math.floor((bytes.length * 3) / 4);
    const at = from + Math.floor(random.next() * (bytes.length - from));
    const value = bytes[at] as number;
    bytes[at] =
      random.next() < 0.5 ? value ^ (1 << Math.floor(random.next() * 8)) : Math.floor(random.next() * 256);
  }
  return random.next() < 0.1 ? bytes.subarray(0, Math.floor(random.next() * bytes.length)) : bytes;
}
