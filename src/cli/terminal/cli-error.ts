import { UserError } from "../../remote/user-error.ts";

/** An error of a command, shown as one sentence. */
export class CliError extends UserError {
  override readonly name = "CliError";
  /** Whether the command line is wrong, rather than something that the command came across. */
  readonly isUsageError: boolean;
  constructor(message: string, isUsageError = false) {
    super(message);
    this.isUsageError = isUsageError;
  }
}
