import type { DurationMs } from "../../kernel/time.ts";

/** Length of a block of waits: a percentile skips whole blocks. */
const BLOCK_MS = 32;

/** Number of arrivals by wait, in whole milliseconds; waits of 0 are not stored. */
export class WaitCounts {
  longest: DurationMs = 0;
  readonly #times = new Map<DurationMs, number>();
  #total = 0;
  /** Totals of blocks, from the first percentile on. */
  #blocks: Map<number, number> | undefined;
  /** Numbers of the blocks, longest waits first; `undefined` after they have changed. */
  #descending: readonly number[] | undefined;

  add(waitedMs: DurationMs, times = 1): void {
    if (waitedMs > this.longest) this.longest = waitedMs;
    this.#times.set(waitedMs, (this.#times.get(waitedMs) ?? 0) + times);
    this.#total += times;
    if (this.#blocks !== undefined) this.#addToBlock(this.#blocks, waitedMs, times);
  }

  addAll(others: WaitCounts): void {
    for (const [waitedMs, times] of others.#times) this.add(waitedMs, times);
  }

  /** Removes a wait that was added. */
  remove(waitedMs: DurationMs): void {
    const times = this.#times.get(waitedMs);
    if (times === undefined) return;
    if (times > 1) this.#times.set(waitedMs, times - 1);
    else this.#times.delete(waitedMs);
    this.#total -= 1;
    if (this.#blocks !== undefined) this.#addToBlock(this.#blocks, waitedMs, -1);
    if (waitedMs === this.longest && times === 1)
      this.longest = [...this.#times.keys()].reduce((one, other) => Math.max(one, other), 0);
  }

  /** The wait with exactly `n` longer ones before it; 0 if there are not that many. */
  nthLongest(n: number): DurationMs {
    if (this.#total <= n) return 0;
    const blocks = this.#countBlocks();
    this.#descending ??= [...blocks.keys()].sort((a, b) => b - a);
    let remaining = n;
    for (const block of this.#descending) {
      const total = blocks.get(block) ?? 0;
      if (remaining >= total) {
        remaining -= total;
        continue;
      }
      for (let waitedMs = (block + 1) * BLOCK_MS - 1; waitedMs >= block * BLOCK_MS; waitedMs -= 1) {
        remaining -= this.#times.get(waitedMs) ?? 0;
        if (remaining < 0) return waitedMs;
      }
    }
    return 0;
  }

  #countBlocks(): ReadonlyMap<number, number> {
    if (this.#blocks === undefined) {
      this.#blocks = new Map();
      for (const [waitedMs, times] of this.#times) this.#addToBlock(this.#blocks, waitedMs, times);
    }
    return this.#blocks;
  }

  #addToBlock(blocks: Map<number, number>, waitedMs: DurationMs, times: number): void {
    const block = Math.floor(waitedMs / BLOCK_MS);
    const before = blocks.get(block);
    if (before === undefined) this.#descending = undefined;
    blocks.set(block, (before ?? 0) + times);
  }
}
