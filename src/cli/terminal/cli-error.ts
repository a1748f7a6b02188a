/** Something that the user has to know and can act on: shown as a sentence, without a stack. */
export class CliError extends Error {
  override readonly name = "CliError";
  /** Whether the command line is wrong, and not what it met. */
  readonly isUsageError: boolean;
  constructor(message: string, isUsageError = false) {
    super(message);
    this.isUsageError = isUsageError;
  }
}
