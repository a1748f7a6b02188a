import { UserError } from "../../ports/user-error.ts";

/** An error of a command that the user can act on; printed without a stack trace. */
export class CliError extends UserError {
  override readonly name = "CliError";
  override readonly isUsageError: boolean;
  constructor(message: string, isUsageError = false) {
    super(message);
    this.isUsageError = isUsageError;
  }
}
