import { existsSync, readFileSync } from "node:fs";
import { handleParentRequests } from "./parent-requests.ts";

/** `cpuMs`: user and system time since the process started. */
export type ProcessMetrics = {
  readonly cpuMs: number;
  readonly rssBytes: number;
  readonly heapUsedBytes: number;
  /** Since the process started, of files and sockets. Linux only. */
  readonly io: { readonly reads: number; readonly writes: number; readonly bytesWritten: number } | undefined;
};

const IO_FILE = "/proc/self/io";

// Imported by the measured server, with `node --import` for the bundled command. The channel does not keep
// the process alive.
handleParentRequests({ metrics });
process.channel?.unref();

function metrics({ collectGarbage }: { collectGarbage: boolean }): ProcessMetrics {
  // Twice, because the second collection frees what finalizers released after the first.
  if (collectGarbage) for (let round = 0; round < 2; round += 1) globalThis.gc?.();
  const { user, system } = process.cpuUsage();
  const { rss, heapUsed } = process.memoryUsage();
  return { cpuMs: (user + system) / 1_000, rssBytes: rss, heapUsedBytes: heapUsed, io: readIo() };
}

function readIo(): ProcessMetrics["io"] {
  if (!existsSync(IO_FILE)) return undefined;
  const counters = new Map(
    readFileSync(IO_FILE, "utf8")
      .split("\n")
      .map((line) => line.split(": ") as [string, string]),
  );
  const of = (name: string) => Number(counters.get(name));
  return { reads: of("syscr"), writes: of("syscw"), bytesWritten: of("wchar") };
}
