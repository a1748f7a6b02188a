/** Input that cannot be read, or the first bad row of a strict import. `line` counts from 1. */
export class RecordingError extends Error {
  readonly line: number | undefined;

  constructor(reason: string, line?: number) {
    super(line === undefined ? reason : `line ${line}: ${reason}`);
    this.line = line;
  }
}
