/** An error that the user can act on: shown as one sentence, without a stack. */
export class UserError extends Error {
  override readonly name: string = "UserError";
  readonly isForUser: boolean = true;
}

/** Whether an error is for the user. A satellite has a copy of the class, so `instanceof` does not recognize its errors. */
export function isUserError(error: unknown): error is UserError {
  return error instanceof Error && "isForUser" in error;
}
