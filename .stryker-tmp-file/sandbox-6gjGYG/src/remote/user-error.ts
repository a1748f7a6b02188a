/** An error that the user can act on: shown as one sentence, without a stack. */
// @ts-nocheck

export class UserError extends Error {
  override readonly name: string = "UserError";
}
