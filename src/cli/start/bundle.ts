// What the bundle of the command exports. Each part is evaluated when it is called.

export async function runCommand(): Promise<void> {
  await (await import("../invoke-command.ts")).runCommand();
}

/**
 * The threads of the command, by the name of their file in the package. A thread of a pool returns the function that the
 * pool calls with each job; the others end with their work.
 */
export const THREADS: Readonly<Record<string, () => Promise<unknown>>> = {
  "run-worker": async () => (await import("../run/run-worker.ts")).runWorkerJob,
  "whatif-worker": async () => (await import("../whatif/whatif-worker.ts")).runWhatifJob,
  "recording-worker": async () => (await import("../run/recording-worker.ts")).readRecordingJob(),
  "scrub-worker": async () => (await import("../server/scrub-worker.ts")).scrubJob(),
  "record-worker": async () => (await import("../server/record-worker.ts")).recordJobs(),
  "copy-worker": async () => (await import("../../worlds/copies/copy-worker.ts")).copyJob(),
  "import-worker": async () => (await import("../whatif/import-worker.ts")).importJob(),
};
