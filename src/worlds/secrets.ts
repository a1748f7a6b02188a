import { createHash, randomBytes, timingSafeEqual } from "node:crypto";

// Secrets come from the operating system and never from the world's seed: a world may be copied, a secret must not be foretold.

const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
const API_KEY_LENGTH = 64; // A: the reference's "64-bit key" is too short to be meant; public keys have 64 characters
const PASSWORD_LENGTH = 16;

export function newApiKeySecret(): string {
  return randomText(API_KEY_LENGTH);
}

/** D: passwords of roles begin so, for scanners to find them. */
export function newPassword(): string {
  return `npg_${randomText(PASSWORD_LENGTH)}`;
}

export function hashSecret(secret: string): string {
  return createHash("sha256").update(secret).digest("hex");
}

/** Compares in a time that tells nothing about where two hashes differ. */
export function sameHash(one: string, other: string): boolean {
  return one.length === other.length && timingSafeEqual(Buffer.from(one), Buffer.from(other));
}

/** Uniform over the alphabet: bytes that would favour its beginning are thrown away. */
function randomText(length: number): string {
  const fair = 256 - (256 % ALPHABET.length);
  let text = "";
  while (text.length < length) {
    for (const byte of randomBytes(2 * length)) {
      if (byte < fair && text.length < length) text += ALPHABET[byte % ALPHABET.length];
    }
  }
  return text;
}
