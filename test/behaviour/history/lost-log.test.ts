import { cpSync, existsSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { MIGRATIONS_FOLDER } from "../../../src/app/package-root.ts";
import { verifyWorld } from "../../../src/cli/history/world-history.ts";
import { findWalDamage } from "../../../src/store/journal/wal-file.ts";
import { DataDirectory } from "../../../src/worlds/data-directory.ts";
import { StoreUnavailable } from "../../../src/worlds/world-handle.ts";
import { createDouble, createProject } from "../../support/double/double.ts";
import { createStorageDouble } from "../../support/double/storage-double.ts";
import { temporaryDirectory } from "../../support/process/process.ts";

const HEADER = 32;
const FRAME = 24 + 4096;

const scratch = temporaryDirectory();
const killed = join(scratch.path, "killed");
/** The last acknowledged event of the killed server, and the size of its log. */
const whole = { seq: 0, bytes: 0 };

/** The directory of a server that was killed: its log contains all changes since the start. */
beforeAll(async () => {
  const made = await createStorageDouble("in files");
  await createProject(made.double());
  for (let index = 0; index < 6; index += 1)
    await made.double().api("POST", "/api_keys", { key_name: `key ${index}` });
  whole.seq = made.double().world.history().seq;
  cpSync(made.directory, killed, { recursive: true });
  whole.bytes = readFileSync(logOf(killed)).length;
  await made.end();
});
afterAll(() => scratch.remove());

const logOf = (data: string) => join(data, "worlds/default.sqlite-wal");
const markOf = (data: string) => join(data, "worlds/default.sqlite-head");

function damagedCopy(damage: (data: string) => void): string {
  const data = join(scratch.path, "damaged");
  rmSync(data, { recursive: true, force: true });
  cpSync(killed, data, { recursive: true });
  rmSync(join(data, "worlds/default.sqlite-shm"), { force: true });
  damage(data);
  return data;
}

const reported: { world: string; missing: readonly string[] }[] = [];

/** The last event of the world in this directory; the error if it is not served. */
async function serve(data: string, acceptLossOf: readonly string[] = []): Promise<number | string> {
  const onAcceptedLoss = (world: string, missing: readonly string[]) => reported.push({ world, missing });
  const directory = new DataDirectory(data, MIGRATIONS_FOLDER, { acceptLossOf, onAcceptedLoss });
  try {
    const double = await createDouble({ storage: directory });
    const { seq } = double.world.history();
    await double.close();
    return seq;
  } catch (error) {
    if (error instanceof StoreUnavailable) return error.message;
    throw error;
  } finally {
    directory.release();
  }
}

function flip(path: string, byte: number): void {
  const bytes = readFileSync(path);
  bytes[byte] = (bytes[byte] as number) ^ 1;
  writeFileSync(path, bytes);
}

/** Bytes in the header, and in the head, the checksum or the page of every frame. */
function places(): number[] {
  const found = [0, 5, 9, 17, 21, 25];
  const within = [1, 9, 17, 2_000];
  for (let frame = HEADER; frame < whole.bytes; frame += FRAME)
    found.push(frame + (within[found.length % within.length] as number));
  return found;
}

test("a server on an intact log has every acknowledged change", async () => {
  expect(await serve(damagedCopy(() => undefined))).toBe(whole.seq);
});

test("no world is served whose log has a flipped bit in an acknowledged change, and verify reports it", async () => {
  const silent: string[] = [];
  for (const byte of places()) {
    const data = damagedCopy((copy) => flip(logOf(copy), byte));
    const { ok, differences } = await verifyWorld(data, "default");
    const served = await serve(data);
    if (served === whole.seq) continue;
    if (typeof served === "number") silent.push(`byte ${byte}: served at event ${served}`);
    else if (ok || !differences.some(({ where }) => where === "log"))
      silent.push(`byte ${byte}: verify does not report it`);
  }
  expect({ places: places().length > 26, silent }).toEqual({ places: true, silent: [] });
});

test("no world is served whose log is cut, and verify reports it", async () => {
  const silent: string[] = [];
  for (let length = 0; length < whole.bytes; length += 4_000) {
    const data = damagedCopy((copy) => truncateSync(logOf(copy), length));
    const { ok } = await verifyWorld(data, "default");
    const served = await serve(data);
    if (ok || typeof served === "number") silent.push(`${length} bytes: ${served}, ${ok}`);
  }
  expect(silent).toEqual([]);
});

test("a lost log is an error that says what is missing and how to accept the loss", async () => {
  const data = damagedCopy((copy) => rmSync(logOf(copy)));
  const refused = await serve(data);
  expect(refused).toMatch(
    new RegExp(
      `^acknowledged changes of world "default" are missing: the file ends at event \\d+, but event ${whole.seq} was acknowledged, so \\d+ events are missing; the write-ahead log default.sqlite-wal is lost or damaged, or default.sqlite was replaced by an older file; restore a snapshot of it: standin snapshots restore <name>; or accept the loss: standin serve --accept-loss default$`,
    ),
  );
  expect(await serve(data), "a refused start changes nothing").toBe(refused);
});

test("an accepted loss is served from then on, and the damaged log is preserved", async () => {
  const data = damagedCopy((copy) => flip(logOf(copy), HEADER + 3 * FRAME + 100));
  const damaged = readFileSync(logOf(data));
  expect(await serve(data)).toMatch("is damaged at byte");
  const accepted = await serve(data, ["default"]);
  expect(accepted).toBeLessThan(whole.seq);
  expect(readFileSync(`${logOf(data)}.damaged`).equals(damaged)).toBe(true);
  expect(await serve(data)).toBe(accepted);
  expect(await verifyWorld(data, "default")).toMatchObject({ ok: true });
});

test("a loss that is accepted is reported, and only a loss", async () => {
  reported.length = 0;
  await serve(
    damagedCopy(() => undefined),
    ["default"],
  );
  expect(reported).toEqual([]);
  await serve(
    damagedCopy((copy) => rmSync(logOf(copy))),
    ["default"],
  );
  const missing = [expect.stringContaining(`event ${whole.seq} was acknowledged`)];
  expect(reported).toEqual([{ world: "default", missing }]);
});

test("a lost world file is not replaced by a new world", async () => {
  const data = damagedCopy((copy) => {
    rmSync(join(copy, "worlds/default.sqlite"));
    rmSync(logOf(copy));
  });
  expect(await serve(data)).toMatch(`its last acknowledged event is ${whole.seq}`);
  expect(existsSync(join(data, "worlds/default.sqlite"))).toBe(false);
});

test("a file of another history is served, because the mark does not concern it", async () => {
  const made = await createStorageDouble("in files");
  await made.double().close();
  const data = damagedCopy((copy) => {
    rmSync(logOf(copy));
    cpSync(made.file(), join(copy, "worlds/default.sqlite"));
  });
  await made.end();
  expect(await serve(data)).toBeGreaterThan(0);
});

test("a world without a mark opens, and damage before later commits is still noticed", async () => {
  const markless = (damage: (copy: string) => void) =>
    damagedCopy((copy) => {
      rmSync(markOf(copy));
      damage(copy);
    });
  expect(await serve(markless(() => undefined))).toBe(whole.seq);
  expect(await serve(markless((copy) => flip(logOf(copy), HEADER + 100)))).toMatch("is damaged at byte 32");
});

test("the frames of one unfinished commit after an invalid one are not damage", () => {
  const data = damagedCopy((copy) => {
    const log = readFileSync(logOf(copy));
    let lastCommit = 0;
    let before = 0;
    for (let frame = HEADER; frame < log.length; frame += FRAME)
      if (log.readUInt32BE(frame + 4) !== 0) [before, lastCommit] = [lastCommit, frame];
    expect(lastCommit - before, "the last commit has several frames").toBeGreaterThan(FRAME);
    flip(logOf(copy), before + FRAME + 100);
  });
  expect(findWalDamage(join(data, "worlds/default.sqlite"))).toBeUndefined();
});
