import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { promisify } from "node:util";
import { createGzip, gunzip, gunzipSync, gzip } from "node:zlib";
import type { Checkpoint } from "../../simulation/checkpoint.ts";
import { CorruptFile } from "../tables/journal-checksum.ts";

/** Speed matters more than size: other requests wait while a checkpoint is written. */
const COMPRESSION = { level: 1 };
/** Less than a millisecond of work. */
const ROWS_PER_LINE = 500;
/** About a millisecond of work. A smaller checkpoint is written at once. */
const MAX_CHARACTERS_AT_ONCE = 128 * 1024;
const LINE_BREAK = 10;
const TABLE_BEGINS = /^"(\w+)":\[$/;

const pack = promisify<string, typeof COMPRESSION, Buffer>(gzip);
const unpack = promisify<Buffer, Buffer>(gunzip);

/**
 * A checkpoint as compressed JSON. Each line has a part of the rows of a table, so that it can be written and read in
 * steps. Others run in between: the rows must not change.
 */
export async function packCheckpoint(checkpoint: Checkpoint): Promise<Buffer> {
  const lines = linesOf(checkpoint);
  let text = "";
  for (let line = lines.next(); line.done !== true; line = lines.next()) {
    text += line.value;
    if (text.length > MAX_CHARACTERS_AT_ONCE) return packInSteps(text, lines);
  }
  return pack(text, COMPRESSION);
}

async function packInSteps(begin: string, lines: Iterable<string>): Promise<Buffer> {
  const packed: Buffer[] = [];
  const collect = async (chunks: AsyncIterable<Buffer>) => {
    for await (const chunk of chunks) packed.push(chunk);
  };
  const text = Readable.from(concat([begin], lines));
  await pipeline(text, createGzip(COMPRESSION), collect);
  return Buffer.concat(packed);
}

function* concat<T>(first: Iterable<T>, second: Iterable<T>): Generator<T> {
  yield* first;
  yield* second;
}

function* linesOf({ tables, ...head }: Checkpoint): Generator<string> {
  yield `${JSON.stringify(head).slice(0, -1)},"tables":{`;
  let separator = "";
  for (const [name, rows] of Object.entries(tables)) {
    yield `${separator}\n${JSON.stringify(name)}:[`;
    let line: string[] = [];
    let isFirst = true;
    for (const row of rows) {
      line.push(JSON.stringify(row));
      if (line.length < ROWS_PER_LINE) continue;
      yield `${isFirst ? "" : ","}\n${line.join(",")}`;
      isFirst = false;
      line = [];
    }
    if (line.length > 0) yield `${isFirst ? "" : ","}\n${line.join(",")}`;
    yield "\n]";
    separator = ",";
  }
  yield "\n}}";
}

/** The checkpoint at this event. Its rows are parsed when they are read. Throws `CorruptFile`. */
export function unpackCheckpoint(seq: number, packed: Buffer): Checkpoint {
  return whole(seq, () => parseCheckpoint(seq, gunzipSync(packed)));
}

/** Like `unpackCheckpoint`, but decompresses in another thread. */
export async function unpackCheckpointInSteps(seq: number, packed: Buffer): Promise<Checkpoint> {
  const text = await unpack(packed).catch((error: unknown) => {
    throw damagedCheckpoint(seq, error);
  });
  return whole(seq, () => parseCheckpoint(seq, text));
}

function parseCheckpoint(seq: number, text: Buffer): Checkpoint {
  const lines = linesIn(text);
  const [head] = lines;
  // One line: the checkpoint is of an older release, or has no secrets.
  if (head === undefined || lines.length === 1) return JSON.parse(text.toString()) as Checkpoint;
  const tables: Record<string, Iterable<unknown>> = {};
  let ranges: Range[] | undefined;
  for (const range of lines.slice(1, -1)) {
    if (ranges === undefined) {
      const name = TABLE_BEGINS.exec(textIn(text, range))?.[1];
      if (name === undefined) throw damagedCheckpoint(seq);
      ranges = [];
      tables[name] = new LazyRows(seq, text, ranges);
    } else if (isEndOfTable(text, range)) ranges = undefined;
    else ranges.push(range);
  }
  return { ...(JSON.parse(`${textIn(text, head)}}}`) as Checkpoint), tables };
}

type Range = { readonly from: number; readonly to: number };

function linesIn(text: Buffer): Range[] {
  const lines: Range[] = [];
  for (let from = 0; from <= text.length; ) {
    const end = text.indexOf(LINE_BREAK, from);
    const to = end === -1 ? text.length : end;
    lines.push({ from, to });
    from = to + 1;
  }
  return lines;
}

function isEndOfTable(text: Buffer, { from, to }: Range): boolean {
  return to - from <= 2 && /^\],?$/.test(textIn(text, { from, to }));
}

function textIn(text: Buffer, { from, to }: Range): string {
  return text.toString("utf8", from, to);
}

/** The rows of a table, a line at a time. */
class LazyRows implements Iterable<unknown> {
  readonly #seq: number;
  readonly #text: Buffer;
  readonly #lines: readonly Range[];

  constructor(seq: number, text: Buffer, lines: readonly Range[]) {
    this.#seq = seq;
    this.#text = text;
    this.#lines = lines;
  }

  *[Symbol.iterator](): Generator<unknown> {
    for (const line of this.#lines) {
      const rows = textIn(this.#text, line);
      const list = `[${rows.endsWith(",") ? rows.slice(0, -1) : rows}]`;
      yield* whole(this.#seq, () => JSON.parse(list) as unknown[]);
    }
  }

  toJSON(): unknown[] {
    return [...this];
  }
}

function whole<T>(seq: number, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw damagedCheckpoint(seq, error);
  }
}

function damagedCheckpoint(seq: number, cause?: unknown): CorruptFile {
  return new CorruptFile(`checkpoint ${seq} is damaged`, { cause });
}
