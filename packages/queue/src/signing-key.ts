import { createHmac, timingSafeEqual } from "node:crypto";

const MAC = "sha256";
const KEY_ID_DIGITS = 8;

/** Length of a signature in bytes. */
export const SIGNATURE_BYTES = 32;

/** Kind of the signed message. A signature for one purpose is not valid for another. */
type Purpose = "job" | "sign-of-life" | "result";

/** The key that a command and its workers share. It is not stored in Redis. */
export class QueueKey {
  /** Part of the name of the queue: workers with another key have another queue. */
  readonly id: string;
  readonly #secret: string;

  constructor(secret: string) {
    this.#secret = secret;
    this.id = createHmac(MAC, secret).update("standin queue").digest("hex").slice(0, KEY_ID_DIGITS);
  }

  /** `subject` says what the content belongs to, so that it cannot be moved to something else. */
  sign(purpose: Purpose, subject: string, content: string | Buffer): Buffer {
    return createHmac(MAC, this.#secret)
      .update(JSON.stringify([purpose, subject]))
      .update("\n")
      .update(content)
      .digest();
  }

  isSigned(purpose: Purpose, subject: string, content: string | Buffer, signature: Buffer): boolean {
    return (
      signature.length === SIGNATURE_BYTES && timingSafeEqual(this.sign(purpose, subject, content), signature)
    );
  }
}

/** Everyone knows this key: its signatures only find damage. */
class PublicKey extends QueueKey {
  override readonly id = "insecure";
  constructor() {
    super("");
  }
}

/** The key with this secret; without a secret, the key that everyone knows. */
export function queueKeyOf(secret: string | undefined): QueueKey {
  return secret === undefined ? new PublicKey() : new QueueKey(secret);
}
