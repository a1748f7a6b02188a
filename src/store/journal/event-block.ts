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

/** A block whose events will soon be in a larger one is not compressed. */
export function encodeBlock(events: readonly StoredEvent[], isCompressed: boolean): EncodedBlock {
  const types: string[] = [];
  const columns: Columns = [types, [], [], []];
  let previousAt = 0;
  for (const { seq, at, type, decision } of events) {
    let position = types.indexOf(type);
    if (position === -1) position = types.push(type) - 1;
    columns[1].push(at - previousAt);
    columns[2].push(position);
    columns[3].push(seq - decision);
    previousAt = at;
  }
  const lines = [JSON.stringify(columns), ...events.map(({ payload }) => payload)];
  const text = lines.join(SEPARATOR);
  const bytes = isCompressed ? deflateRawSync(text, COMPRESSION) : deflateUncompressed(text);
  return { types: listOfTypes(types), events: bytes };
}

/** The largest uncompressed part of the format (RFC 1951, 3.2.4), and the bytes before each. */
const MAX_PART_BYTES = 0xffff;
const PART_HEADER_BYTES = 5;

/** The text in the format of `deflateRawSync`, without compression. Creating a compressor would take longer than this. */
function deflateUncompressed(text: string): Buffer {
  const bytes = Buffer.from(text);
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
