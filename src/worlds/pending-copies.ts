/**
 * Copies of worlds and snapshots that are being made. Until a copy is finished, no list contains it, although it may
 * refer to data to which nothing else refers any more.
 */
export class PendingCopies {
  readonly #onReadable: () => void;
  #pending = 0;
  #begun = 0;
  /** Whether a read has failed since the last call of `onReadable`. */
  #isAwaited = false;

  /** `onReadable` is called after a read returned `undefined`, once no copy is being made. */
  constructor(onReadable: () => void) {
    this.#onReadable = onReadable;
  }

  async make<T>(copy: () => Promise<T>): Promise<T> {
    this.#pending += 1;
    this.#begun += 1;
    try {
      return await copy();
    } finally {
      this.#pending -= 1;
      this.#notifyIfReadable();
    }
  }

  /** The result of `read`; `undefined` if a copy was being made at any time until it returned. */
  async readWithout<T>(read: () => Promise<T>): Promise<T | undefined> {
    const begun = this.#begun;
    if (this.#pending === 0) {
      const found = await read();
      if (this.#begun === begun) return found;
    }
    this.#isAwaited = true;
    this.#notifyIfReadable();
    return undefined;
  }

  #notifyIfReadable(): void {
    if (this.#pending > 0 || !this.#isAwaited) return;
    this.#isAwaited = false;
    this.#onReadable();
  }
}
