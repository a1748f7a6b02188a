/** Prints an error of the measured server. */
export function report(error: unknown): void {
  process.stderr.write(`${error instanceof Error ? error.stack : error}\n`);
}
