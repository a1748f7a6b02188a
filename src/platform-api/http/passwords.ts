import type { ErrorResponse } from "../../http/errors.ts";
import type { Role } from "../../platform/model/branch-content.ts";
import type { Project } from "../../platform/model/project.ts";
import { verifierId } from "../../platform/rules/branch/secret-references.ts";
import { formatVerifier, newVerifier } from "../../worlds/scram-verifier.ts";
import { newPassword } from "../../worlds/secrets.ts";
import type { Transaction } from "../../worlds/world-handle.ts";

/**
 * A new password for a role. It can be shown again only if the project stores passwords; else its verifier is
 * stored, so that the role can log in.
 */
export function issuePassword(transaction: Transaction, project: Project, role: Role): string {
  const password = newPassword();
  const verifier = verifierId(role.secretId);
  // A reset or restored history may have left a password or a verifier under these ids.
  if (project.storePasswords) {
    transaction.storeSecret(role.secretId, password);
    transaction.deleteSecret(verifier);
  } else {
    transaction.deleteSecret(role.secretId);
    transaction.storeSecret(verifier, formatVerifier(newVerifier(password)));
  }
  return password;
}

/** S: 412 where the project does not store passwords. */
export const PASSWORDS_NOT_STORED: ErrorResponse = {
  status: 412,
  code: "PASSWORDS_NOT_STORED",
  message: "this project does not store passwords",
};
