import type { ErrorResponse } from "../../http/errors.ts";
import type { Role } from "../../platform/branch/branch-content.ts";
import type { Project } from "../../platform/project/project.ts";
import { newPassword } from "../../worlds/secrets.ts";
import type { Transaction } from "../../worlds/world-handle.ts";

/** A new password for a role: shown now, and told again later only where the project is to store it. */
export function issuePassword(transaction: Transaction, project: Project, role: Role): string {
  const password = newPassword();
  if (project.storePasswords) transaction.storeSecret(role.secretId, password);
  // A history that was reset or taken back may have left one under this name.
  else transaction.deleteSecret(role.secretId);
  return password;
}

/** S: 412 where the project does not store passwords. */
export const PASSWORDS_NOT_STORED: ErrorResponse = {
  status: 412,
  code: "PASSWORDS_NOT_STORED",
  message: "this project does not store passwords",
};
