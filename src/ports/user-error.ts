/** An error that the user can act on: shown as one sentence, without a stack. */
export class UserError extends Error {
  override readonly name: string = "UserError";
  readonly isForUser: boolean = true;
  /** Whether the command line itself is wrong, such as the name of a file: exit status 2 instead of 1. */
  readonly isUsageError: boolean = false;
}

/** A file that the user named as input does not exist. `place`: such as `--plan`, or nothing for an argument. */
export class MissingInput extends UserError {
  override readonly name = "MissingInput";
  override readonly isUsageError = true;
  constructor(path: string, place?: string) {
    super(`${place === undefined ? "" : `${place}: `}${path} does not exist`);
  }
}

/** Whether an error is for the user. A satellite has a copy of the class, so `instanceof` does not recognize its errors. */
export function isUserError(error: unknown): error is UserError {
  return error instanceof Error && "isForUser" in error;
}
