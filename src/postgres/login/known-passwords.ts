import { hash } from "node:crypto";
import { passwordMatches, type Verifier } from "../../worlds/scram-verifier.ts";

const MAX_PASSWORDS = 1_000;

/** Checks passwords that clients send as text. The last correct ones are remembered by their hash. */
export class KnownPasswords {
  readonly #known = new Set<string>();

  /** Whether a password with this hash was right. */
  isKnown(passwordHash: string, verifier: Verifier): boolean {
    return this.#known.has(keyOf(passwordHash, verifier));
  }

  async matches(password: string, verifier: Verifier): Promise<boolean> {
    const key = keyOf(hashOfPassword(password), verifier);
    if (this.#known.has(key)) return true;
    if (!(await passwordMatches(password, verifier))) return false;
    if (this.#known.size >= MAX_PASSWORDS) this.#known.delete([...this.#known][0] ?? "");
    this.#known.add(key);
    return true;
  }
}

export function hashOfPassword(password: string): string {
  return hash("sha256", password, "base64");
}

function keyOf(passwordHash: string, { storedKey }: Verifier): string {
  return `${storedKey.toString("base64")}:${passwordHash}`;
}
