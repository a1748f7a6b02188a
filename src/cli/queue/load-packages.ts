import { CliError } from "../terminal/cli-error.ts";

/** The optional peers of `--queue`; loaded on demand. */
export async function loadQueuePackages() {
  try {
    const [{ Queue, Worker, UnrecoverableError }, { Redis }] = await Promise.all([
      import("bullmq"),
      import("ioredis"),
    ]);
    return { Queue, Worker, UnrecoverableError, Redis };
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ERR_MODULE_NOT_FOUND")
      throw new CliError(
        "--queue needs the packages bullmq and ioredis beside standin; run: npm install bullmq ioredis",
      );
    throw error;
  }
}
