import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import { closeSync, fsyncSync, openSync, readFileSync, renameSync, writeSync } from "node:fs";

const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const CIPHER = "aes-256-gcm";
/** Prefix of an encrypted secret. No password of a role has this prefix. */
const SEALED_PREFIX = "sealed:1:";

/**
 * Encrypts the passwords of roles, in memory and on disk. A world's file, a snapshot or a backup does not
 * reveal them without the key.
 */
export class SecretBox {
  readonly #key: Buffer;

  constructor(key: Buffer = randomBytes(KEY_BYTES)) {
    if (key.length !== KEY_BYTES) throw new Error(`the key of the secrets must have ${KEY_BYTES} bytes`);
    this.#key = key;
  }

  static isSealed(value: string): boolean {
    return value.startsWith(SEALED_PREFIX);
  }

  /** `id` is authenticated: a sealed value is not readable under another id. */
  seal(id: string, secret: string): string {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv(CIPHER, this.#key, nonce).setAAD(Buffer.from(id));
    const sealed = Buffer.concat([nonce, cipher.update(secret, "utf8"), cipher.final(), cipher.getAuthTag()]);
    return SEALED_PREFIX + sealed.toString("base64url");
  }

  /** `undefined` for a value that was sealed with another key, as in a file from another data directory. */
  open(id: string, value: string): string | undefined {
    const sealed = Buffer.from(value.slice(SEALED_PREFIX.length), "base64url");
    try {
      const decipher = createDecipheriv(CIPHER, this.#key, sealed.subarray(0, NONCE_BYTES), {
        authTagLength: TAG_BYTES,
      });
      decipher.setAAD(Buffer.from(id)).setAuthTag(sealed.subarray(-TAG_BYTES));
      const text = decipher.update(sealed.subarray(NONCE_BYTES, -TAG_BYTES));
      return Buffer.concat([text, decipher.final()]).toString("utf8");
    } catch {
      return undefined;
    }
  }
}

/** The box with the key file at `path`, which only its user can read. Creates the file if it does not exist. */
export function openSecretBox(path: string): SecretBox {
  try {
    return boxFrom(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
  const key = randomBytes(KEY_BYTES);
  const temporary = `${path}.unfinished`;
  const file = openSync(temporary, "w", 0o600);
  try {
    writeSync(file, `${key.toString("base64url")}\n`);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  renameSync(temporary, path);
  return new SecretBox(key);
}

function boxFrom(path: string): SecretBox {
  const key = Buffer.from(readFileSync(path, "utf8").trim(), "base64url");
  if (key.length !== KEY_BYTES)
    throw new Error(
      `${path} is damaged: it must contain ${KEY_BYTES} bytes in base64url; restore it, or delete it to give up all stored passwords`,
    );
  return new SecretBox(key);
}
