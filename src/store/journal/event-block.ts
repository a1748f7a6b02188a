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

export function encodeBlock(events: readonly StoredEvent[]): EncodedBlock {
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
  return { types: listOfTypes(types), events: deflateRawSync(lines.join(SEPARATOR), COMPRESSION) };
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
