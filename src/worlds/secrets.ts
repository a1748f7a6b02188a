import { createHmac, hash, randomBytes, randomInt, timingSafeEqual } from "node:crypto";
import { profileOfWorld, type World } from "../platform/world/world.ts";

// Secrets come from the operating system, never from the world's seed: with a copy of the world they would be
// predictable.

const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
/** Characters. `randomInt` has bits for no more. */
const DRAWN_TOGETHER = 8;
/** The number of texts of half as many characters. */
const HALF = ALPHABET.length ** (DRAWN_TOGETHER / 2);
const ALL = HALF * HALF;
const API_KEY_LENGTH = 64; // A: the reference says "64-bit key", which is too short; real keys have 64 characters
const PASSWORD_LENGTH = 16;

/** In the form of the world's profile, or of the recordings if its answers are theirs. */
export function newApiKeySecret(world: World): string {
  const { apiKeyPrefix, recordedApiKeyLength = API_KEY_LENGTH } = profileOfWorld(world);
  const length = world.settings.answers === "recorded" ? recordedApiKeyLength : API_KEY_LENGTH;
  return `${apiKeyPrefix}${randomText(length)}`;
}

/** D: passwords of roles have a fixed prefix, so that secret scanners find them. */
export function newPassword(): string {
  return `npg_${randomText(PASSWORD_LENGTH)}`;
}

/** A secret of a service: the prefix and 64 hexadecimal digits. */
export function newServiceSecret(prefix: string): string {
  return `${prefix}${randomBytes(32).toString("hex")}`;
}

export function hashSecret(secret: string): string {
  return hash("sha256", secret);
}

/**
 * Proves that a server has the control token, without telling it. A client sends a challenge and sends the
 * token only after the proof.
 */
export function proofOfToken(token: string, challenge: string, pid: number): string {
  return createHmac("sha256", token).update(`standin control ${pid} ${challenge}`).digest("hex");
}

/** A signature that only who knows the secret can make. */
export function signatureOf(secret: string, text: string): string {
  return createHmac("sha256", secret).update(text).digest("hex");
}

/** Compares in constant time. */
export function sameHash(one: string, other: string): boolean {
  return one.length === other.length && timingSafeEqual(Buffer.from(one), Buffer.from(other));
}

/** Uniform. `randomInt` has a supply of random bytes, so it takes less time than `randomBytes` for each text. */
function randomText(length: number): string {
  const text = Buffer.allocUnsafe(length + DRAWN_TOGETHER);
  for (let end = 0; end < length; end += DRAWN_TOGETHER) {
    const drawn = randomInt(ALL);
    const high = Math.floor(drawn / HALF);
    writeHalf(text, end, high);
    writeHalf(text, end + DRAWN_TOGETHER / 2, drawn - high * HALF);
  }
  return text.toString("latin1", 0, length);
}

/** Integers of 32 bits are divided faster than larger ones. */
function writeHalf(text: Buffer, from: number, number: number): void {
  let rest = number | 0;
  for (let index = 0; index < DRAWN_TOGETHER / 2; index += 1) {
    text[from + index] = ALPHABET.charCodeAt(rest % ALPHABET.length);
    rest = (rest / ALPHABET.length) | 0;
  }
}
