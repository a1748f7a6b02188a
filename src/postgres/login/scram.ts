import { randomBytes, timingSafeEqual } from "node:crypto";
import {
  hmac,
  ITERATIONS,
  KEY_BYTES,
  SALT_BYTES,
  SCRAM,
  sha256,
  type Verifier,
} from "../../worlds/scram-verifier.ts";

// SCRAM-SHA-256 of RFC 5802 and 7677, with the channel binding `tls-server-end-point` of RFC 5929.

const NONCE_BYTES = 18;

export const SCRAM_PLUS = `${SCRAM}-PLUS`;

/**
 * A verifier that no password fits, for roles that do not exist: the exchange takes the same steps and the same
 * time, and its salt is the same for every attempt.
 */
export function mockVerifier(secret: Buffer, role: string): Verifier {
  const salt = hmac(secret, role).subarray(0, SALT_BYTES);
  return {
    iterations: ITERATIONS,
    salt,
    storedKey: randomBytes(KEY_BYTES),
    serverKey: randomBytes(KEY_BYTES),
  };
}

/** The server's side of one exchange. The functions return `undefined` if the client's message is invalid. */
export class ScramExchange {
  readonly #verifier: Verifier;
  /** Hash of the server's certificate; `undefined` without TLS. */
  readonly #certificateHash: Buffer | undefined;
  #expectedBinding = "";
  #nonce = "";
  #transcript = "";

  constructor(verifier: Verifier, certificateHash: Buffer | undefined) {
    this.#verifier = verifier;
    this.#certificateHash = certificateHash;
  }

  /** Answers the client's first message. */
  challenge(mechanism: string, clientFirst: string): string | undefined {
    const match = /^(p=tls-server-end-point|n|y),([^,]*),(n=[^,]*,r=([\x21-\x2b\x2d-\x7e]+))/.exec(
      clientFirst,
    );
    if (match === null) return undefined;
    const [, flag = "", authorization = "", bare = "", clientNonce = ""] = match;
    const isBound = flag.startsWith("p=");
    // A client that supports channel binding and does not see that we do is being deceived.
    if (isBound !== (mechanism === SCRAM_PLUS) || (flag === "y" && this.#certificateHash !== undefined))
      return undefined;
    if (isBound && this.#certificateHash === undefined) return undefined;
    const binding = isBound ? (this.#certificateHash ?? Buffer.alloc(0)) : Buffer.alloc(0);
    this.#expectedBinding = Buffer.concat([Buffer.from(`${flag},${authorization},`), binding]).toString(
      "base64",
    );
    this.#nonce = clientNonce + randomBytes(NONCE_BYTES).toString("base64");
    const { salt, iterations } = this.#verifier;
    const serverFirst = `r=${this.#nonce},s=${salt.toString("base64")},i=${iterations}`;
    this.#transcript = `${bare},${serverFirst}`;
    return serverFirst;
  }

  /** Checks the client's proof, and answers with the server's. */
  verify(clientFinal: string): string | undefined {
    const match = /^(c=([^,]*),r=([^,]*)),p=([A-Za-z0-9+/=]+)$/.exec(clientFinal);
    if (match === null) return undefined;
    const [, withoutProof = "", binding, nonce, proofText = ""] = match;
    const proof = Buffer.from(proofText, "base64");
    if (binding !== this.#expectedBinding || nonce !== this.#nonce || proof.length !== KEY_BYTES)
      return undefined;
    const transcript = `${this.#transcript},${withoutProof}`;
    const { storedKey, serverKey } = this.#verifier;
    const signature = hmac(storedKey, transcript);
    const clientKey = Buffer.from(proof.map((byte, index) => byte ^ (signature[index] ?? 0)));
    if (!timingSafeEqual(sha256(clientKey), storedKey)) return undefined;
    return `v=${hmac(serverKey, transcript).toString("base64")}`;
  }
}
