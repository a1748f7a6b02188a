import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { expect, test } from "vitest";
import { makeSparse } from "../../../../src/postgres/volumes/sparse-log.ts";
import { testDirectory } from "../../../support/server/running-server.ts";

const MIB = 1024 ** 2;
const allocated = (path: string) => statSync(path).blocks * 512;

test("a segment that ends in zeros takes the space of its content only, and reads the same", async () => {
  const directory = testDirectory();
  const short = join(directory, "000000010000000000000001");
  const full = join(directory, "000000010000000000000002");
  const other = join(directory, "00000002.history");
  const content = new Uint8Array(MIB);
  content.fill(7, 0, 50_000);
  writeFileSync(short, content);
  writeFileSync(full, new Uint8Array(MIB).fill(9));
  writeFileSync(other, new Uint8Array(MIB));
  writeFileSync(`${full}.sparse`, "left by a kill");
  const before = statSync(full).ino;
  await makeSparse(directory);
  expect(readFileSync(short).equals(content)).toBe(true);
  expect(allocated(short)).toBeLessThan(64 * 1024);
  expect(statSync(full).ino).toBe(before);
  expect(allocated(other)).toBeGreaterThanOrEqual(MIB);
  expect(readdirSync(directory).sort()).toEqual([short, full, other].map((path) => basename(path)));
  const again = statSync(short).ino;
  await makeSparse(directory);
  expect(statSync(short).ino).toBe(again);
});
