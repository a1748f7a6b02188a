import { createHash, createHmac, pbkdf2, pbkdf2Sync, randomBytes, timingSafeEqual } from "node:crypto";
import { promisify } from "node:util";

export const SCRAM = "SCRAM-SHA-256";
/** The defaults of Postgres. */
export const ITERATIONS = 4_096;
export const SALT_BYTES = 16;
export const KEY_BYTES = 32;

/** Data that a server stores instead of a password. */
export type Verifier = {
  readonly iterations: number;
  readonly salt: Buffer;
  readonly storedKey: Buffer;
  readonly serverKey: Buffer;
};

/** Takes about 2 ms: the iterations make guessing expensive. */
export function newVerifier(password: string, salt = randomBytes(SALT_BYTES)): Verifier {
  const salted = pbkdf2Sync(password.normalize("NFKC"), salt, ITERATIONS, KEY_BYTES, "sha256");
  return {
    iterations: ITERATIONS,
    salt,
    storedKey: sha256(hmac(salted, "Client Key")),
    serverKey: hmac(salted, "Server Key"),
  };
}

/** Whether this is the password. Computed beside the event loop, because it takes about 2 ms. */
export async function passwordMatches(
  password: string,
  { salt, iterations, storedKey }: Verifier,
): Promise<boolean> {
  const salted = await derive(password.normalize("NFKC"), salt, iterations, KEY_BYTES, "sha256");
  return timingSafeEqual(sha256(hmac(salted, "Client Key")), storedKey);
}

const derive = promisify(pbkdf2);

/** In the form of `pg_authid.rolpassword`. */
export function formatVerifier({ iterations, salt, storedKey, serverKey }: Verifier): string {
  const base64 = (bytes: Buffer) => bytes.toString("base64");
  return `${SCRAM}$${iterations}:${base64(salt)}$${base64(storedKey)}:${base64(serverKey)}`;
}

/** `undefined` if the text has another form, such as an MD5 hash. */
export function parseVerifier(text: string): Verifier | undefined {
  const match = /^SCRAM-SHA-256\$(\d{1,9}):([A-Za-z0-9+/=]+)\$([A-Za-z0-9+/=]+):([A-Za-z0-9+/=]+)$/.exec(
    text,
  );
  if (match === null) return undefined;
  const [, iterations, salt = "", storedKey = "", serverKey = ""] = match;
  const bytes = (base64: string) => Buffer.from(base64, "base64");
  return {
    iterations: Number(iterations),
    salt: bytes(salt),
    storedKey: bytes(storedKey),
    serverKey: bytes(serverKey),
  };
}

export function hmac(key: Buffer, text: string): Buffer {
  return createHmac("sha256", key).update(text).digest();
}

export function sha256(bytes: Buffer): Buffer {
  return createHash("sha256").update(bytes).digest();
}
