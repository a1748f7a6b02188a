import { createReadStream } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";

const PAGE_BYTES = 8_192;
/** Pages of a file, after which a relation continues in the next one. */
const PAGES_PER_FILE = 131_072;
/** Pages that are read at once. */
const PAGES_PER_READ = 128;
/** Directories of a cluster whose files consist of pages. */
const PAGED = /^(?:global|base\/\d+)\/\d+(?:_(?:fsm|vm|init))?(?:\.(\d+))?$/;

/** Offsets in the header of a page. */
const CHECKSUM_OFFSET = 8;
const UPPER_OFFSET = 14;

/** Postgres' variant of FNV-1a: 32 sums over the words of a page. */
const PRIME = 16_777_619;
const SEEDS = Int32Array.of(
  ...[0x5b1f36e9, 0xb8525960, 0x02ab50aa, 0x1de66d2a, 0x79ff467a, 0x9bb9f8a3, 0x217e7cd2, 0x83e13d2c],
  ...[0xf8d4474f, 0xe39eb970, 0x42c6ae16, 0x993216fa, 0x7b093b5d, 0x98daff3c, 0xf718902a, 0x0b1c9cdb],
  ...[0xe58f764b, 0x187636bc, 0x5d7b3bb1, 0xe73de7de, 0x92bec979, 0xcca6c0b2, 0x304a0979, 0x85aa43d4],
  ...[0x783125bb, 0x6ca8eaa2, 0xe407eac6, 0x4b5cfc3e, 0x9fbf8c76, 0x15ca20be, 0xf2ca9fd3, 0x959bd756],
);
const FINAL_ROUNDS = 2;

export type CheckedCluster = { readonly pages: number; readonly damaged: readonly string[] };

/** Compares the pages of a cluster with their checksums. No process may use the cluster. */
export async function checkPages(cluster: string): Promise<CheckedCluster> {
  const names = (await readdir(cluster, { recursive: true })).filter((name) => PAGED.test(name)).sort();
  let pages = 0;
  const copy = new Int32Array(PAGE_BYTES / 4);
  const damaged: string[] = [];
  for (const name of names) {
    let page = Number(PAGED.exec(name)?.[1] ?? 0) * PAGES_PER_FILE;
    const content = createReadStream(join(cluster, name), { highWaterMark: PAGES_PER_READ * PAGE_BYTES });
    for await (const chunk of content as AsyncIterable<Buffer>) {
      for (let offset = 0; offset < chunk.length; offset += PAGE_BYTES) {
        if (!isWhole(chunk.subarray(offset, offset + PAGE_BYTES), page, copy))
          damaged.push(`page ${page} of ${name}`);
        page += 1;
        pages += 1;
      }
    }
  }
  return { pages, damaged };
}

function isWhole(page: Buffer, number: number, copy: Int32Array): boolean {
  if (page.length < PAGE_BYTES) return false;
  // A page without content, which has no checksum.
  if (page.readUInt16LE(UPPER_OFFSET) === 0) return true;
  return page.readUInt16LE(CHECKSUM_OFFSET) === checksumOf(page, number, copy);
}

/** The checksum counts as 0 in its own computation, and the number of the page is part of it. */
function checksumOf(page: Buffer, number: number, words: Int32Array): number {
  const bytes = new Uint8Array(words.buffer);
  bytes.set(page);
  bytes.fill(0, CHECKSUM_OFFSET, CHECKSUM_OFFSET + 2);
  let result = 0;
  for (let lane = 0; lane < SEEDS.length; lane += 1) {
    let sum = SEEDS[lane] ?? 0;
    for (let index = lane; index < words.length; index += SEEDS.length)
      sum = combine(sum, words[index] as number);
    for (let round = 0; round < FINAL_ROUNDS; round += 1) sum = combine(sum, 0);
    result ^= sum;
  }
  return (((result ^ number) >>> 0) % 65_535) + 1;
}

function combine(sum: number, word: number): number {
  const mixed = sum ^ word;
  return Math.imul(mixed, PRIME) ^ (mixed >>> 17);
}
