/** Removals that are requested together share one search. */
const DELAY_MS = 250;
/** A search reads what all worlds refer to, so the next one waits for this many times as long as it took. */
const PAUSE_FACTOR = 10;
const MAX_PAUSE_MS = 30_000;
/** After a search that failed. */
const RETRY_MS = 30_000;

/** Searches for data that no world needs, soon after it may have become so. */
export class RemovalSchedule {
  readonly #search: () => Promise<void>;
  #timer: NodeJS.Timeout | undefined;
  #isSearching = false;
  #isRequested = false;
  #earliest = 0;

  constructor(search: () => Promise<void>) {
    this.#search = search;
  }

  /** Data may have become unneeded. */
  request(): void {
    this.#isRequested = true;
    if (this.#isSearching || this.#timer !== undefined) return;
    const delay = Math.max(DELAY_MS, this.#earliest - performance.now());
    this.#timer = setTimeout(() => void this.#run(), delay).unref();
  }

  /** A search has failed. */
  retry(): void {
    this.#earliest = performance.now() + RETRY_MS;
    this.request();
  }

  close(): void {
    clearTimeout(this.#timer);
    // Never fires, and prevents a later one.
    this.#isSearching = true;
  }

  async #run(): Promise<void> {
    this.#timer = undefined;
    this.#isRequested = false;
    this.#isSearching = true;
    const startedAt = performance.now();
    await this.#search();
    const endedAt = performance.now();
    const pauseEnd = endedAt + Math.min(MAX_PAUSE_MS, PAUSE_FACTOR * (endedAt - startedAt));
    this.#earliest = Math.max(this.#earliest, pauseEnd);
    this.#isSearching = false;
    if (this.#isRequested) this.request();
  }
}
