/** Lets Ctrl-C end a work between two requests, so that it can clear away what it made for itself; a second one ends the process. */
export async function interruptible<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController();
  const abort = () => controller.abort();
  process.once("SIGINT", abort).once("SIGTERM", abort);
  try {
    return await work(controller.signal);
  } finally {
    process.removeListener("SIGINT", abort).removeListener("SIGTERM", abort);
  }
}
