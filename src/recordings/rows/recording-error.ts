/** Input that is no trace at all, or a bad row where none is allowed. `line` counts from 1. */
export class TraceInputError extends Error {
  readonly line: number | undefined;

  constructor(reason: string, line?: number) {
    super(line === undefined ? reason : `line ${line}: ${reason}`);
    this.line = line;
  }
}
