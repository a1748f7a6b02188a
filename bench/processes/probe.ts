import { answerParent } from "./answering.ts";

/** What a server says of itself, beside its work. */
export type Sample = { readonly cpuMs: number; readonly rssBytes: number; readonly heapUsedBytes: number };

// Loaded with a server, the bundled command among them (`node --import`). It keeps nobody alive.
answerParent({ sample });
process.channel?.unref();

function sample({ collect }: { collect: boolean }): Sample {
  // Twice: what a finalizer lets go of in the first is gone in the second.
  if (collect) for (let round = 0; round < 2; round += 1) globalThis.gc?.();
  const { user, system } = process.cpuUsage();
  const { rss, heapUsed } = process.memoryUsage();
  return { cpuMs: (user + system) / 1_000, rssBytes: rss, heapUsedBytes: heapUsed };
}
