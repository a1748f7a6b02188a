import { deflateRawSync, inflateRawSync } from "node:zlib";
import { CorruptFile, chainChecksum, type StoredEvent } from "../tables/journal-checksum.ts";

/** Successive events as one row stores them, without their position. */
export type EncodedBlock = {
  /** The types of its events, each between two spaces. */
  readonly types: string;
  readonly events: Buffer;
};

/** A row of `event_blocks`. */
export type StoredBlock = EncodedBlock & {
  readonly firstSeq: number;
  readonly lastSeq: number;
  readonly chainBefore: number;
  readonly chain: number;
};

/** 17 bytes an event; level 1 is as slow, and level 6 takes twice the time for a tenth less. */
const COMPRESSION = { level: 3 };

/** The columns of a block: its types, and per event the time since the one before it, the type and the decision. */
type Columns = [
  types: string[],
  sinceLast: number[],
  type: number[],
  /** Number of events since the first one of the decision. */
  sinceDecision: number[],
];

/** JSON without spaces contains no line break, so that lines divide the payloads. */
const SEPARATOR = "\n";

/** Successive events as the parts of a block, which can be joined with others without decoding them. */
export type EncodedEvents = {
  readonly columns: Columns;
  readonly lastAt: number;
  /** Each after a separator. */
  readonly payloads: Buffer;
};

/** A block whose events will soon be in a larger one is not compressed. */
export function encodeBlock(events: readonly StoredEvent[], isCompressed: boolean): EncodedBlock {
  return blockOf(encodeEvents(events), isCompressed);
}

export function encodeEvents(events: readonly StoredEvent[]): EncodedEvents {
  const columns: Columns = [[], [], [], []];
  let payloads = "";
  let previousAt = 0;
  for (const { seq, at, type, decision, payload } of events) {
    columns[1].push(at - previousAt);
    columns[2].push(positionIn(columns[0], type));
    columns[3].push(seq - decision);
    payloads += SEPARATOR + payload;
    previousAt = at;
  }
  return { columns, lastAt: previousAt, payloads: Buffer.from(payloads) };
}

/** The same as `encodeEvents` of the events of all parts, each of which follows the one before it. */
export function joinEvents(parts: readonly EncodedEvents[]): EncodedEvents {
  const columns: Columns = [[], [], [], []];
  let previousAt = 0;
  for (const { columns: own, lastAt } of parts) {
    const positions = own[0].map((type) => positionIn(columns[0], type));
    for (const position of own[2]) columns[2].push(positions[position] as number);
    const [first = 0, ...others] = own[1];
    columns[1].push(first - previousAt, ...others);
    columns[3].push(...own[3]);
    previousAt = lastAt;
  }
  return { columns, lastAt: previousAt, payloads: Buffer.concat(parts.map(({ payloads }) => payloads)) };
}

export function blockOf({ columns, payloads }: EncodedEvents, isCompressed: boolean): EncodedBlock {
  const content = Buffer.concat([Buffer.from(JSON.stringify(columns)), payloads]);
  return {
    types: listOfTypes(columns[0]),
    events: isCompressed ? deflateRawSync(content, COMPRESSION) : deflateUncompressed(content),
  };
}

/** Adds the type if it is new. */
function positionIn(types: string[], type: string): number {
  const position = types.indexOf(type);
  return position === -1 ? types.push(type) - 1 : position;
}

/** The largest uncompressed part of the format (RFC 1951, 3.2.4), and the bytes before each. */
const MAX_PART_BYTES = 0xffff;
const PART_HEADER_BYTES = 5;

/** The bytes in the format of `deflateRawSync`, without compression. Creating a compressor would take longer than this. */
function deflateUncompressed(bytes: Buffer): Buffer {
  const parts: Buffer[] = [];
  for (let from = 0; from < bytes.length; from += MAX_PART_BYTES) {
    const part = bytes.subarray(from, from + MAX_PART_BYTES);
    const header = Buffer.allocUnsafe(PART_HEADER_BYTES);
    header.writeUInt8(from + part.length === bytes.length ? 1 : 0, 0);
    header.writeUInt16LE(part.length, 1);
    header.writeUInt16LE(MAX_PART_BYTES - part.length, 3);
    parts.push(header, part);
  }
  return Buffer.concat(parts);
}

/** The events of a block. Throws `CorruptFile` if they are not those that were stored. */
export function decodeBlock(block: StoredBlock): StoredEvent[] {
  const events = parseBlock(block, textOfBlock(block));
  const isWhole = events.length === block.lastSeq - block.firstSeq + 1;
  if (!isWhole || chainChecksum(events, block.chainBefore) !== block.chain) throw damagedBlock(block);
  return events;
}

/** Whether the payload of any event contains the text. Faster than decoding them. */
export function blockContains(block: StoredBlock, text: string): boolean {
  return textOfBlock(block).includes(text);
}

function textOfBlock(block: StoredBlock): string {
  try {
    return inflateRawSync(block.events).toString();
  } catch (error) {
    throw damagedBlock(block, error);
  }
}

function parseBlock(block: StoredBlock, text: string): StoredEvent[] {
  const [head = "", ...payloads] = text.split(SEPARATOR);
  try {
    const [types, sinceLast, type, sinceDecision] = JSON.parse(head) as Columns;
    if (listOfTypes(types) !== block.types) throw damagedBlock(block);
    let at = 0;
    return payloads.map((payload, index) => {
      const seq = block.firstSeq + index;
      at += sinceLast[index] as number;
      return {
        seq,
        decision: seq - (sinceDecision[index] as number),
        at,
        type: types[type[index] as number] as string,
        payload,
      };
    });
  } catch (error) {
    throw damagedBlock(block, error);
  }
}

function listOfTypes(types: readonly string[]): string {
  return ` ${types.join(" ")} `;
}

function damagedBlock({ firstSeq, lastSeq }: StoredBlock, cause?: unknown): CorruptFile {
  return new CorruptFile(`events ${firstSeq} to ${lastSeq} are damaged`, { cause });
}
