import type { ErrorResponse } from "../../http/errors.ts";
import type { Role } from "../../platform/branch/branch-content.ts";
import type { Project } from "../../platform/project/project.ts";
import { newPassword } from "../../worlds/secrets.ts";
import type { Transaction } from "../../worlds/world-handle.ts";

/** A new password for a role. It can be shown again only if the project stores passwords. */
export function issuePassword(transaction: Transaction, project: Project, role: Role): string {
  const password = newPassword();
  if (project.storePasswords) transaction.storeSecret(role.secretId, password);
  // A reset or restored history may have left a password under this id.
  else transaction.deleteSecret(role.secretId);
  return password;
}

/** S: 412 where the project does not store passwords. */
export const PASSWORDS_NOT_STORED: ErrorResponse = {
  status: 412,
  code: "PASSWORDS_NOT_STORED",
  message: "this project does not store passwords",
};
