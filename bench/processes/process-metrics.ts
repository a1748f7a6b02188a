import { handleParentRequests } from "./parent-requests.ts";

/** `cpuMs`: user and system time since the process started. */
export type ProcessMetrics = {
  readonly cpuMs: number;
  readonly rssBytes: number;
  readonly heapUsedBytes: number;
};

// Imported by the measured server, with `node --import` for the bundled command. The channel does not keep
// the process alive.
handleParentRequests({ metrics });
process.channel?.unref();

function metrics({ collectGarbage }: { collectGarbage: boolean }): ProcessMetrics {
  // Twice, because the second collection frees what finalizers released after the first.
  if (collectGarbage) for (let round = 0; round < 2; round += 1) globalThis.gc?.();
  const { user, system } = process.cpuUsage();
  const { rss, heapUsed } = process.memoryUsage();
  return { cpuMs: (user + system) / 1_000, rssBytes: rss, heapUsedBytes: heapUsed };
}
