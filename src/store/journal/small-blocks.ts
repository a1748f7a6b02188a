import type { EncodedEvents, StoredBlock } from "./event-block.ts";

type SmallBlock = { readonly stored: StoredBlock; readonly events: EncodedEvents };

/**
 * The small blocks that were written since the last large one, in memory: a large block is made of them without decoding
 * what is stored. They are fewer than a large block has events.
 */
export class SmallBlocks {
  #blocks: SmallBlock[] = [];

  add(stored: StoredBlock, events: EncodedEvents): void {
    // Blocks of a transaction that was undone are written again.
    while ((this.#blocks.at(-1)?.stored.lastSeq ?? 0) >= stored.firstSeq) this.#blocks.pop();
    this.#blocks.push({ stored, events });
  }

  clear(): void {
    this.#blocks = [];
  }

  /** History before `seq` is deleted, in blocks as a whole. */
  deleteBefore(seq: number): void {
    this.#blocks = this.#blocks.filter(({ stored }) => stored.lastSeq >= seq);
  }

  /**
   * The blocks after `after`, up to `last`, the last event of a block; none unless the stored blocks are exactly these, byte
   * for byte. `blockAfter` reads the first block with an event after another.
   */
  storedBetween(
    after: number,
    last: number,
    blockAfter: (seq: number) => StoredBlock | undefined,
  ): readonly SmallBlock[] {
    let seq = after;
    for (const { stored } of this.#blocks) {
      const block = blockAfter(seq);
      if (block === undefined || !isSame(block, stored)) return [];
      seq = stored.lastSeq;
    }
    return seq === last ? this.#blocks : [];
  }
}

function isSame(one: StoredBlock, other: StoredBlock): boolean {
  return (
    one.firstSeq === other.firstSeq &&
    one.lastSeq === other.lastSeq &&
    one.types === other.types &&
    one.chainBefore === other.chainBefore &&
    one.chain === other.chain &&
    one.events.equals(other.events)
  );
}
