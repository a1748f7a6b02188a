import { hash } from "node:crypto";
import { hashOfPassword } from "../login/known-passwords.ts";
import type { ParsedLogin, SqlLogin } from "./sql-request.ts";

const MAX_LOGINS = 1_000;

/** A login without its password. */
type KnownLogin = {
  readonly login: SqlLogin;
  readonly passwordHash: string;
  /** Hash of the connection string. */
  readonly hash: string;
};

/**
 * Remembers the last connection strings by their hash, so that no password is kept. Parsing one takes as long as a tenth of
 * a request.
 */
export class KnownLogins {
  readonly #known = new Map<string, KnownLogin>();

  /** Throws what `parse` throws for a string that is not known. */
  find(connectionString: string, parse: (text: string) => ParsedLogin): KnownLogin {
    const key = hash("sha256", connectionString, "base64");
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const { password, ...login } = parse(connectionString);
    return { login, passwordHash: hashOfPassword(password), hash: key };
  }

  /** Called when the password is right: strings of anyone else are not kept. */
  remember(found: KnownLogin): void {
    if (this.#known.has(found.hash)) return;
    if (this.#known.size >= MAX_LOGINS) this.#known.delete([...this.#known.keys()][0] ?? "");
    // A part of a string may keep the whole one in memory.
    this.#known.set(found.hash, { ...found, login: structuredClone(found.login) });
  }
}
