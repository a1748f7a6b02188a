import type { Role } from "../../platform/model/branch-content.ts";
import { verifierId } from "../../platform/rules/branch/secret-references.ts";
import { parseVerifier, type Verifier } from "../../worlds/scram-verifier.ts";
import type { Transaction } from "../../worlds/world-handle.ts";

const MAX_VERIFIERS = 1_000;

/**
 * The verifiers of the roles that logged in last. They are found by their encrypted form, which is another one after each
 * change of a password, so that a login decrypts nothing.
 */
export class KnownVerifiers {
  readonly #known = new Map<string, Verifier>();

  /** `read` returns the stored text of the verifier, or `undefined` if no password fits. */
  verifierOf(
    { world }: Pick<Transaction, "world">,
    { secretId }: Role,
    read: () => string | undefined,
  ): Verifier | undefined {
    const id = verifierId(secretId);
    const known = this.#known.get(keyOf(id, world.secrets.get(id)?.value));
    if (known !== undefined) return known;
    const text = read();
    const verifier = text === undefined ? undefined : parseVerifier(text);
    // The first use of a password has stored its verifier.
    const sealed = world.secrets.get(id)?.value;
    if (verifier === undefined || sealed === undefined) return verifier;
    if (this.#known.size >= MAX_VERIFIERS) this.#known.delete([...this.#known.keys()][0] ?? "");
    this.#known.set(keyOf(id, sealed), verifier);
    return verifier;
  }
}

function keyOf(id: string, sealed: string | undefined): string {
  return `${id} ${sealed ?? ""}`;
}
