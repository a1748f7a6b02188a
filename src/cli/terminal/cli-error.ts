import { UserError } from "../../ports/user-error.ts";

/** An error of a command that the user can act on; printed without a stack trace. */
export class CliError extends UserError {
  override readonly name = "CliError";
  /** Whether the command line itself is wrong: exit status 2 instead of 1. */
  readonly isUsageError: boolean;
  constructor(message: string, isUsageError = false) {
    super(message);
    this.isUsageError = isUsageError;
  }
}
