import { createHash } from "node:crypto";
import { passwordMatches, type Verifier } from "../../worlds/scram-verifier.ts";

const MAX_PASSWORDS = 1_000;

/** Checks passwords that clients send as text. The last correct ones are remembered by their hash. */
export class KnownPasswords {
  readonly #known = new Set<string>();

  async matches(password: string, verifier: Verifier): Promise<boolean> {
    const key = `${verifier.storedKey.toString("base64")}:${createHash("sha256").update(password).digest("base64")}`;
    if (this.#known.has(key)) return true;
    if (!(await passwordMatches(password, verifier))) return false;
    if (this.#known.size >= MAX_PASSWORDS) this.#known.delete([...this.#known][0] ?? "");
    this.#known.add(key);
    return true;
  }
}
