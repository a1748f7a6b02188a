/** An error that the user can act on: shown as one sentence, without a stack. */
export class UserError extends Error {
  override readonly name: string = "UserError";
}
