import type BetterSqlite3 from "better-sqlite3";
import { type EventFilter, isSelected } from "../../simulation/journal.ts";
import { CorruptFile, chainChecksum, type StoredEvent } from "../tables/journal-checksum.ts";
import {
  blockContains,
  blockOf,
  decodeBlock,
  type EncodedEvents,
  encodeEvents,
  joinEvents,
  type StoredBlock,
} from "./event-block.ts";
import { type EventRow, rowOf, verifyChain } from "./event-rows.ts";
import { type Link, prepareEventStatements } from "./event-statements.ts";
import { SmallBlocks } from "./small-blocks.ts";

/** Larger blocks are hardly smaller per event. */
export const EVENTS_PER_BLOCK = 512;

/** Events that are added in one step. To complete a block takes as long. */
const EVENTS_PER_PORTION = 128;

/**
 * This number of events in one commit becomes a block at once, without compression: it costs less than rows. Later, a large
 * block replaces the small ones.
 */
export const MIN_EVENTS_PER_BLOCK = 16;

/** A verification reads blocks until it has this number of events: usually one block. */
const ENOUGH_EVENTS = EVENTS_PER_BLOCK / 2;

/** The most events of one read by a verification. A block may also contain the remainder of a commit. */
const MAX_VERIFIED_EVENTS = 2 * EVENTS_PER_BLOCK;

/** Position at which reading starts. The chain checksum is absent if it is not known yet. */
type Start = { readonly seq: number; readonly chain: number | undefined };

/** The events of successive blocks, and the chain checksum before the first one. */
type BlockEvents = { readonly events: readonly StoredEvent[]; readonly chainBefore: number | undefined };
const NO_BLOCKS: BlockEvents = { events: [], chainBefore: undefined };

type BlockBounds = Pick<StoredBlock, "firstSeq" | "lastSeq" | "chain">;

/** The events of a world's file: blocks, then the newest events as rows. See decision 0027. */
export class StoredEvents {
  /** Number of rows at which events become a block. */
  readonly eventsPerBlock: number;
  readonly #statements: ReturnType<typeof prepareEventStatements>;
  readonly #small = new SmallBlocks();
  /** The block that was read last: what reads on continues in it. */
  #decoded: WeakRef<{ readonly block: BlockBounds; readonly events: StoredEvent[] }> | undefined;
  /** The rows are damaged. They stay as they are, so that the damage can be found. */
  #cannotPack = false;

  constructor(sqlite: BetterSqlite3.Database, eventsPerBlock = EVENTS_PER_BLOCK) {
    this.eventsPerBlock = eventsPerBlock;
    this.#statements = prepareEventStatements(sqlite);
  }

  /** The sequence number of the oldest event. It may be a truncated one. */
  get first(): number | undefined {
    return this.#statements.firstBlock.get()?.firstSeq ?? this.#statements.firstRow.get() ?? undefined;
  }

  /** The newest event. */
  get last(): Link | undefined {
    return this.#statements.lastRow.get() ?? this.#lastOfBlocks();
  }

  /** The number of `count` new events to add at once: enough to complete a block, or a few. */
  portionOf(count: number): number {
    if (count <= EVENTS_PER_PORTION) return count;
    const after = this.#statements.lastLargeBlock.get(this.eventsPerBlock)?.seq ?? 0;
    const missing = this.eventsPerBlock - ((this.last?.seq ?? after) - after);
    return missing > 0 && count >= missing ? missing : EVENTS_PER_PORTION;
  }

  /**
   * Adds events after the newest one, whose chain checksum is `before`; returns that of the last. `oldest` is where
   * history begins. The caller opens the transaction.
   */
  append(events: readonly StoredEvent[], before: number, oldest: Link): number {
    const packed = this.#pack(events, before, oldest);
    return packed ?? this.#insert(events, before);
  }

  /**
   * Events after `from`, in order; none if that event is missing. Throws `CorruptFile` if any of them is changed,
   * missing or out of order.
   */
  since(from: Start, limit: number): StoredEvent[] {
    const found: StoredEvent[] = [];
    const { position, chain } = this.#readBlocks(found, from, limit);
    if (found.length >= limit || chain === undefined) return found;
    const rows = this.#rowsSince(position, limit - found.length);
    const last = rows.at(-1);
    if (last === undefined) return found;
    if (last.seq !== position + rows.length || last.chain !== chainChecksum(rows, chain))
      verifyChain(rows, position, chain);
    return found.length === 0 ? rows : found.concat(rows);
  }

  /**
   * The first of the events that `since` returns, if possible up to the end of a block, so that each block is decoded
   * once. Throws at the first broken link of the chain, even if later ones match.
   */
  verified(from: Start, limit: number): StoredEvent[] {
    const most = Math.min(limit, MAX_VERIFIED_EVENTS);
    const found: StoredEvent[] = [];
    const { position, chain } = this.#readBlocks(found, from, most, ENOUGH_EVENTS);
    if (found.length >= Math.min(most, ENOUGH_EVENTS)) return found;
    const rows = this.#rowsSince(position, most - found.length);
    verifyChain(rows, position, chain ?? 0);
    return found.concat(rows);
  }

  /** Events after `oldest` and `from`, and before `before` (all exclusive), that mention the id, newest first. */
  about(
    id: string,
    oldest: Link,
    before: number,
    limit: number,
    filter?: EventFilter,
    from = 0,
  ): StoredEvent[] {
    const after = Math.max(oldest.seq, from);
    const found: StoredEvent[] = this.#rowsAbout(id, oldest, { after, before }, limit, filter);
    const mention = `"${id}"`;
    const newest = this.#lastOfBlocks()?.seq ?? 0;
    for (let seq = Math.min(before - 1, newest); seq > after && found.length < limit; ) {
      const block = this.#blockWith(seq);
      if (block === undefined) throw new CorruptFile(`event ${seq} is missing`);
      if (mayMatch(block, filter) && blockContains(block, mention)) {
        const events = this.#eventsOf(block).filter(
          (event) =>
            event.seq > after &&
            event.seq <= seq &&
            isSelected(event.type, filter) &&
            event.payload.includes(mention),
        );
        found.push(...events.reverse().slice(0, limit - found.length));
      }
      seq = block.firstSeq - 1;
    }
    return found;
  }

  /** The chain checksum after this event; `undefined` if the event is missing. */
  chainAt(seq: number): number | undefined {
    const stored = this.#statements.chainAt.get(seq) ?? this.#statements.chainOfBlock.get(seq);
    if (stored !== undefined) return stored;
    const block = this.#blockWith(seq);
    if (block === undefined) return undefined;
    return chainChecksum(this.#eventsOf(block).slice(0, seq - block.firstSeq + 1), block.chainBefore);
  }

  /** Whether there is an event of this type after `after`, up to and including `upTo`. */
  hasType(type: string, after: number, upTo: number): boolean {
    if (this.#statements.rowOfType.get(after, upTo, type) !== undefined) return true;
    return this.#statements.blocksOfType
      .all(after, upTo, ` ${type} `)
      .some((block) =>
        this.#eventsOf(block).some((event) => event.type === type && event.seq > after && event.seq <= upTo),
      );
  }

  /** Deletes events before `seq`. A block that also has later events stays whole. */
  deleteBefore(seq: number): void {
    this.#small.deleteBefore(seq);
    this.#statements.deleteBlocksBefore.run(seq);
    this.#statements.deleteRowsBefore.run(seq);
  }

  /** Deletes events after `seq`. */
  deleteAfter(seq: number): void {
    this.#statements.deleteRowsAfter.run(seq);
    const block = this.#blockWith(seq);
    const remaining = block === undefined ? [] : this.#eventsOf(block).slice(0, seq - block.firstSeq + 1);
    const isDivided = block !== undefined && block.lastSeq > seq;
    this.#statements.deleteBlocksAfter.run(seq);
    if (isDivided) this.#insert(remaining, block.chainBefore);
  }

  #insert(events: readonly StoredEvent[], before: number): number {
    let chain = before;
    for (const event of events) {
      const { seq, at, type, payload, decision } = event;
      chain = chainChecksum([event], chain);
      this.#statements.insertRow.run(seq, at, type, payload, decision, chain);
    }
    return chain;
  }

  /**
   * Makes blocks of rows, of small blocks and of new events; returns the chain checksum of the last new event. `undefined`
   * if there are too few events: they must become rows.
   */
  #pack(events: readonly StoredEvent[], before: number, oldest: Link): number | undefined {
    if (this.#cannotPack) return undefined;
    const large = this.#statements.lastLargeBlock.get(this.eventsPerBlock)?.seq ?? 0;
    const newest = events.at(-1)?.seq ?? this.last?.seq ?? 0;
    const isComplete = newest - Math.max(large, oldest.seq) >= this.eventsPerBlock;
    if (!isComplete && events.length < MIN_EVENTS_PER_BLOCK) return undefined;
    const { firstRow, count: rowCount } = this.#rows();
    // Truncated rows are deleted first, a few with every commit.
    if (firstRow !== undefined && firstRow <= oldest.seq) return undefined;
    const link = this.#lastOfBlocks() ?? oldest;
    // A file of an older release has many rows. With every commit, their number decreases by a block.
    const packedRows = Math.min(rowCount, events.length + this.eventsPerBlock);
    const rows = firstRow === undefined ? [] : this.#rowsSince(firstRow - 1, packedRows);
    if (isComplete && isChain(rows, link)) {
      const packed = this.#packSmall(large, link, [...rows, ...events], packedRows === rowCount);
      if (packed !== undefined) return packed;
    }
    const small = isComplete ? this.#blocksBetween(large, link.seq) : NO_BLOCKS;
    if (small === undefined || !isChain(rows, link)) {
      this.#cannotPack = true;
      return undefined;
    }
    if (small.events.length > 0) this.#statements.deleteBlocksAfter.run(large);
    const packed = [...small.events, ...rows];
    const chainBefore = small.chainBefore ?? (rows.length === 0 ? before : link.chain);
    if (packedRows < rowCount) {
      this.#insertBlocks(packed, chainBefore);
      this.#statements.deleteRowsUpTo.run(rows.at(-1)?.seq ?? 0);
      return undefined;
    }
    if (rows.length > 0) this.#statements.deleteRowsAfter.run(0);
    return this.#insertBlocks([...packed, ...events], chainBefore);
  }

  /** Makes one large block of the small ones and of the events after them, if that is all; returns its chain checksum. */
  #packSmall(large: number, link: Link, newest: readonly StoredEvent[], isAll: boolean): number | undefined {
    const small = this.#small.storedBetween(large, link.seq, (seq) => this.#statements.blockAfter.get(seq));
    const [first, last] = [small[0]?.stored, newest.at(-1)?.seq ?? link.seq];
    if (!isAll || first === undefined || last - first.firstSeq + 1 >= 2 * this.eventsPerBlock)
      return undefined;
    const parts = small.map(({ events }) => events);
    if (newest.length > 0) parts.push(encodeEvents(newest));
    const { firstSeq, chainBefore } = first;
    const chain = chainChecksum(newest, link.chain);
    this.#statements.deleteBlocksAfter.run(large);
    this.#statements.deleteRowsAfter.run(0);
    this.#insertBlock({ firstSeq, lastSeq: last, chainBefore, chain }, joinEvents(parts));
    return chain;
  }

  /** The events of the blocks after `after`, up to `last`, the last event of a block. `undefined` if they are damaged. */
  #blocksBetween(after: number, last: number): BlockEvents | undefined {
    const first = this.#statements.blockAfter.get(after);
    if (first === undefined) return NO_BLOCKS;
    const { firstSeq, chainBefore } = first;
    const events: StoredEvent[] = [];
    try {
      this.#readBlocks(events, { seq: firstSeq - 1, chain: chainBefore }, last - firstSeq + 1);
      return { events, chainBefore };
    } catch (error) {
      if (error instanceof CorruptFile) return undefined;
      throw error;
    }
  }

  #rows(): { readonly firstRow: number | undefined; readonly count: number } {
    const firstRow = this.#statements.firstRow.get() ?? undefined;
    const lastRow = firstRow === undefined ? undefined : this.#statements.lastRow.get();
    return {
      firstRow,
      count: lastRow === undefined || firstRow === undefined ? 0 : lastRow.seq - firstRow + 1,
    };
  }

  /** Inserts events in blocks of `eventsPerBlock`; the last block also takes the remainder. */
  #insertBlocks(events: readonly StoredEvent[], before: number): number {
    const count = Math.max(1, Math.floor(events.length / this.eventsPerBlock));
    let chainBefore = before;
    for (let index = 0; index < count; index += 1) {
      const from = index * this.eventsPerBlock;
      const portion = events.slice(from, index === count - 1 ? undefined : from + this.eventsPerBlock);
      const [first, last] = [portion[0], portion.at(-1)];
      if (first === undefined || last === undefined) break;
      const chain = chainChecksum(portion, chainBefore);
      const bounds = { firstSeq: first.seq, lastSeq: last.seq, chainBefore, chain };
      this.#insertBlock(bounds, encodeEvents(portion));
      chainBefore = chain;
    }
    return chainBefore;
  }

  #insertBlock(bounds: Omit<StoredBlock, "types" | "events">, encoded: EncodedEvents): void {
    const { firstSeq, lastSeq, chainBefore, chain } = bounds;
    const isLarge = lastSeq - firstSeq + 1 >= this.eventsPerBlock;
    const { types, events } = blockOf(encoded, isLarge);
    this.#statements.insertBlock.run(lastSeq, firstSeq, types, chainBefore, chain, events);
    if (isLarge) this.#small.clear();
    else this.#small.add({ firstSeq, lastSeq, chainBefore, chain, types, events }, encoded);
  }

  /** Adds events of blocks to `found`; returns how far they reach, and the chain checksum if a block ends there. */
  #readBlocks(found: StoredEvent[], from: Start, limit: number, enough = limit) {
    let position = from.seq;
    let chain: number | undefined;
    while (found.length < Math.min(limit, enough)) {
      const previousChain = chain;
      const block = this.#statements.blockAfter.get(position);
      if (block === undefined) break;
      const skipped = position + 1 - block.firstSeq;
      chain = block.chain;
      // Reading from inside a block needs no link check: `#eventsOf` verifies the whole block.
      if (skipped <= 0) {
        const before = found.length > 0 ? previousChain : this.#chainOf(from);
        if (before === undefined) return { position, chain: undefined };
        if (skipped < 0 || block.chainBefore !== before)
          throw new CorruptFile(`event ${position + 1} or the one before it is damaged`);
      }
      const events = this.#eventsOf(block);
      const end = Math.min(events.length, skipped + limit - found.length);
      for (let index = skipped; index < end; index += 1) found.push(events[index] as StoredEvent);
      position += end - skipped;
    }
    return { position, chain: chain ?? this.#chainOf(from) };
  }

  #rowsSince(seq: number, limit: number): EventRow[] {
    return this.#statements.rowsSince.all(seq, Math.min(limit, Number.MAX_SAFE_INTEGER)).map(rowOf);
  }

  #rowsAbout(
    id: string,
    oldest: Link,
    { after, before }: { readonly after: number; readonly before: number },
    limit: number,
    filter?: EventFilter,
  ): EventRow[] {
    const { rowsAbout, rowsOfLifecycleAbout, rowsOfTypeAbout } = this.#statements;
    const parameters = [after, before, `"${id}"`, limit] as const;
    const raw =
      filter === undefined
        ? rowsAbout.all(...parameters)
        : filter === "lifecycle"
          ? rowsOfLifecycleAbout.all(...parameters)
          : rowsOfTypeAbout.all(filter, ...parameters);
    return raw.map((values) => {
      const row = rowOf(values);
      const previous = row.seq - 1;
      verifyChain([row], previous, previous === oldest.seq ? oldest.chain : (this.chainAt(previous) ?? 0));
      return row;
    });
  }

  #chainOf({ seq, chain }: Start): number | undefined {
    return chain ?? this.chainAt(seq);
  }

  #lastOfBlocks(): Link | undefined {
    return this.#statements.lastBlock.get();
  }

  #blockWith(seq: number): StoredBlock | undefined {
    const block = this.#statements.blockAfter.get(seq - 1);
    return block !== undefined && block.firstSeq <= seq ? block : undefined;
  }

  #eventsOf(block: StoredBlock): StoredEvent[] {
    const { firstSeq, lastSeq, chain } = block;
    const decoded = this.#decoded?.deref();
    // A block that has replaced smaller ones may end where one of them did.
    if (
      decoded?.block.firstSeq === firstSeq &&
      decoded.block.lastSeq === lastSeq &&
      decoded.block.chain === chain
    )
      return decoded.events;
    const events = decodeBlock(block);
    this.#decoded = new WeakRef({ block: { firstSeq, lastSeq, chain }, events });
    return events;
  }
}

function isChain(rows: readonly EventRow[], { seq, chain }: Link): boolean {
  if (rows.length === 0) return true;
  return rows.at(-1)?.seq === seq + rows.length && rows.at(-1)?.chain === chainChecksum(rows, chain);
}

function mayMatch({ types }: StoredBlock, filter: EventFilter | undefined): boolean {
  return (
    filter === undefined ||
    types
      .trim()
      .split(" ")
      .some((type) => isSelected(type, filter))
  );
}
