import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import BetterSqlite3 from "better-sqlite3";
import { afterAll, beforeAll, expect, test } from "vitest";
import { randomFrom } from "../../../src/simulation/random.ts";
import { API_KEY } from "../../support/double/double.ts";
import {
  CorruptionBench,
  catchError,
  createIntactFile,
  describeBit,
  findMisjudgement,
  flipBit,
  type IntactWorld,
  verify,
} from "../../support/durability/corruption.ts";
import { queryAll } from "../../support/durability/full-world.ts";
import { runStandin } from "../../support/process/in-process-command.ts";
import { startServer, testDirectory } from "../../support/server/running-server.ts";

const SEED = Number(process.env["STANDIN_TEST_SEED"] ?? 20260101);
/** Multiplies the iterations of CI; also pass `--testTimeout=0`. */
const FACTOR = Number(process.env["STANDIN_TEST_RUNS"] ?? 0.25);
const REPEAT = `to repeat: STANDIN_TEST_SEED=${SEED} STANDIN_TEST_RUNS=${FACTOR} npx vitest run test/e2e/durability/damaged-file.test.ts`;
const PAGE = 4096;

const bench = new CorruptionBench();
const sound: Record<string, IntactWorld> = {};
beforeAll(async () => {
  sound["complete"] = await createIntactFile();
  sound["truncated"] = await createIntactFile({ keep: "2h" });
  sound["in blocks"] = await createIntactFile({ inBlocks: true });
});
afterAll(() => bench.remove());

const kinds = ["complete", "truncated", "in blocks"];
const of = (kind: string) => sound[kind] as IntactWorld;
const draws = (name: string) => randomFrom(SEED).stream(name, 1);

test.each(kinds)(
  "a file whose history is %s never returns data that was not written, wherever it is truncated",
  async (kind) => {
    const { bytes } = of(kind);
    const draw = draws(`truncate ${kind}`);
    const lengths = [1, 15, 16, 50, 96, 100, 511, 512, PAGE - 1, bytes.length - 1];
    for (let length = PAGE; length < bytes.length; length += PAGE * (1 + (draw() % 6)))
      lengths.push(length, length + 1 + (draw() % (PAGE - 1)));
    await expectJudged(
      of(kind),
      lengths.map((length) => [`cut off after ${length} bytes`, bytes.subarray(0, length)]),
    );
  },
);

test("an emptied world file is not mistaken for a world that has yet to be created", async () => {
  await expectJudged(of("complete"), [["cut off after 0 bytes", Buffer.alloc(0)]]);
});

test.each(kinds)(
  "where history is %s, no flipped bit makes a world return data that was not written, and verify finds it",
  async (kind) => {
    const { bytes } = of(kind);
    const draw = draws(`flip ${kind}`);
    const bits = Array.from({ length: 200 * FACTOR }, () => draw() % (bytes.length * 8));
    await expectJudged(
      of(kind),
      bits.map((bit) => [describeBit(bit), flipBit(bytes, bit)]),
    );
  },
);

test("a flipped bit in the file header never makes the file pass for another one", async () => {
  const { bytes } = of("complete");
  const draw = draws("flip header");
  // Every bit of the application id and the version, and some of the other bits of the 100-byte header.
  const telling = [60, 61, 62, 63, 68, 69, 70, 71].flatMap((byte) =>
    Array.from({ length: 8 }, (_, bit) => byte * 8 + bit),
  );
  const others = Array.from({ length: 60 * FACTOR }, () => draw() % 800);
  await expectJudged(
    of("complete"),
    [...telling, ...others].map((bit) => [describeBit(bit), flipBit(bytes, bit)]),
  );
});

test("a flipped bit in a page header never hides rows", async () => {
  const { bytes } = of("truncated");
  const draw = draws("flip heads");
  const pages = bytes.length / PAGE;
  const bits = Array.from(
    { length: 100 * FACTOR },
    () => (1 + (draw() % (pages - 1))) * PAGE * 8 + (draw() % 96),
  );
  await expectJudged(
    of("truncated"),
    bits.map((bit) => [describeBit(bit), flipBit(bytes, bit)]),
  );
});

test("a flipped bit in an index never hides an operation", async () => {
  const { bytes } = of("complete");
  const draw = draws("flip indexes");
  const pages = pagesOf(
    bytes,
    "operations_of_project",
    "operations_unfinished",
    "sqlite_autoindex_operations_1",
  );
  const bits = Array.from(
    { length: 100 * FACTOR },
    () => ((pages[draw() % pages.length] ?? 1) - 1) * PAGE * 8 + (draw() % (PAGE * 8)),
  );
  await expectJudged(
    of("complete"),
    bits.map((bit) => [describeBit(bit), flipBit(bytes, bit)]),
  );
});

test("a flipped bit in the history row never changes the identity of the history or how much of it is retained", async () => {
  const { bytes, questions, responses } = of("truncated");
  const [page = 1] = pagesOf(bytes, "history");
  const health = { api: [], sim: ["/health"] };
  const historyOf = (text: string | undefined) => JSON.stringify(JSON.parse(text ?? "{}").history);
  bench.replaceFile(bytes);
  const whole = await bench.serve(health);
  const was = "responses" in whole ? historyOf(whole.responses["sim /health"]?.text) : "";
  const wrong: string[] = [];
  // The only row is at the end of its page.
  for (let byte = page * PAGE - 70; byte < page * PAGE; byte += 1) {
    const bit = byte * 8 + (byte % 7);
    bench.replaceFile(flipBit(bytes, bit));
    const found = await catchError(() => verify(bench.file));
    bench.replaceFile(flipBit(bytes, bit));
    const served = await bench.serve({ ...questions, sim: [...questions.sim, "/health"] });
    if (!("responses" in served)) continue;
    const { "sim /health": response, ...rest } = served.responses;
    const judged = findMisjudgement({ responses }, { ...served, responses: rest }, found);
    if (judged !== undefined) wrong.push(`${describeBit(bit)}: ${judged}`);
    else if (response?.status === 200 && historyOf(response.text) !== was && found === undefined)
      wrong.push(
        `${describeBit(bit)}: it was ${was} and is ${historyOf(response.text)}, and verify finds nothing`,
      );
  }
  expect({ wrong: wrong.length, first: wrong.slice(0, 8) }, REPEAT).toEqual({ wrong: 0, first: [] });
});

test("an event whose type or payload is no longer text, with unchanged bytes, is not returned as intact", async () => {
  const { bytes } = of("complete");
  const files = ["OperationScheduled", "ComputeSuspended", "ActivityRecorded"].map(
    (type) => [`${type} as a blob`, withBlobFor(type, bytes)] as const,
  );
  await expectJudged(of("complete"), files);
});

test("verify finds a changed column definition that a server rejects", async () => {
  const { bytes } = of("complete");
  const [page = 1] = pagesOf(bytes, "sqlite_schema").slice(-1);
  const at = bytes.indexOf("history_id", (page - 1) * PAGE);
  await expectJudged(of("complete"), [["a column of another name", flipBit(bytes, (at + 3) * 8)]]);
});

test("a corrupt snapshot is not restored, and the rejected restore changes nothing", async () => {
  const { bytes, snapshot, questions, responses } = of("complete");
  const draw = draws("restore");
  const wrong: string[] = [];
  for (let round = 0; round < 40 * FACTOR; round += 1) {
    const bit = draw() % (snapshot.length * 8);
    bench.replaceFile(bytes, { damaged: flipBit(snapshot, bit) });
    const found = await catchError(() => verify(bench.snapshotFile("damaged")));
    const { status, after } = await bench.use(async (client) => {
      const listed = await client.sim("GET", "/snapshots");
      expect(listed.status, describeBit(bit)).toBe(200);
      await client.sim("POST", "/clock/advance", { by: "1h" });
      const former = await queryAll(client, questions);
      const { status } = await client.sim("POST", "/snapshots/damaged/restore", {});
      const after = await queryAll(client, questions);
      return { status, after: differences(status === 200 ? responses : former, after, status === 200) };
    });
    if (after.length > 0)
      wrong.push(
        `${describeBit(bit)}: answered ${status}, and then ${after[0]} (verify: ${found ?? "finds nothing"})`,
      );
  }
  expect({ wrong: wrong.length, first: wrong.slice(0, 8) }, REPEAT).toEqual({ wrong: 0, first: [] });
});

test("a flipped bit in a snapshot is found by verify, or does not change its data", async () => {
  const { snapshot, questions, responses } = of("truncated");
  const draw = draws("flip snapshot");
  const wrong: string[] = [];
  for (let round = 0; round < 100 * FACTOR; round += 1) {
    const bit = draw() % (snapshot.length * 8);
    const damaged = flipBit(snapshot, bit);
    bench.replaceFile(damaged);
    const found = await catchError(() => verify(bench.file));
    bench.replaceFile(damaged);
    const judged = findMisjudgement({ responses }, await catchError(() => bench.serve(questions)), found);
    if (judged !== undefined) wrong.push(`${describeBit(bit)}: ${judged}`);
  }
  expect({ wrong: wrong.length, first: wrong.slice(0, 8) }, REPEAT).toEqual({ wrong: 0, first: [] });
});

test("the commands report where a file is corrupt, in one sentence, and exit with code 1", async () => {
  const { bytes } = of("complete");
  const event = bytes.indexOf("app shop 7") * 8;
  const column = bytes.indexOf("`journal_version` integer") * 8;
  const damages: [string, Buffer, RegExp][] = [
    ["an event", flipBit(bytes, event), /event \d+ or the one before it is damaged/],
    ["the end", bytes.subarray(0, bytes.length - 3 * PAGE), /malformed|damaged|corrupt/],
    ["the definition of a table", flipBit(bytes, column), /damaged|malformed|corrupt/],
  ];
  for (const [what, damaged, sentence] of damages) {
    const data = directoryWith(damaged);
    const { code, stdout, stderr } = await runStandin(["verify", data]);
    expect({ what, code, text: stdout + stderr }).toEqual({
      what,
      code: 1,
      text: expect.stringMatching(sentence),
    });
    expect(stderr.trim().split("\n"), what).toHaveLength(1);
    expect(stderr, what).toMatch(/^standin: /);
  }
});

test("a server does not start on a world with a corrupt row, reports it in one sentence, and leaves the file unchanged", async () => {
  for (const [what, damaged] of [
    ["a row", await withDamagedRow(of("complete"))],
    ["the end", of("complete").bytes.subarray(0, of("complete").bytes.length - PAGE)],
  ] as const) {
    const data = directoryWith(damaged);
    const { code, stdout, stderr } = await runStandin([
      "serve",
      "--data",
      data,
      "--port",
      "0",
      "--json",
      "--log-level",
      "silent",
    ]);
    expect({ what, code, stdout, stderr }).toEqual({
      what,
      code: 1,
      stdout: "",
      stderr: expect.stringMatching(/^standin: .*(damaged|malformed).*\n$/),
    });
    expect(readFileSync(join(data, "worlds/default.sqlite")).equals(damaged), what).toBe(true);
  }
});

test("a server with a corrupt journal answers 503 and advice for the corrupt part, and serves everything else", async () => {
  const { bytes, questions, responses } = of("complete");
  const server = await startServer(directoryWith(flipBit(bytes, bytes.indexOf("app shop 7") * 8)), [], {
    key: API_KEY,
  });
  const after = await queryAll(server, questions);
  const { "sim /events?limit=10000": events, ...rest } = after;
  const { "sim /events?limit=10000": _, ...whole } = responses;
  expect(events).toEqual({ status: 503, text: "STORE_UNAVAILABLE" });
  expect(rest).toEqual(whole);
  expect((await server.sim("GET", "/events?limit=10000")).body.message).toMatch(
    /event \d+ or the one before it is damaged.*restore a snapshot/,
  );
});

test("the command that the error message advises restores a corrupt world from a snapshot", async () => {
  const { snapshot, questions, responses } = of("complete");
  const data = directoryWith(await withDamagedRow(of("complete")));
  const kept = join(data, "snapshots/default/sound.sqlite");
  writeFileSync(kept, snapshot);
  const { code, stderr } = await runStandin(["snapshots", "restore", "sound", "--data", data]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  const server = await startServer(data, [], { key: API_KEY });
  expect(await queryAll(server, questions)).toEqual(responses);
});

test("importing a corrupt file fails and leaves no world behind", async () => {
  const { bytes } = of("truncated");
  const draw = draws("import");
  for (let round = 0; round < 4; round += 1) {
    const file = join(testDirectory(), "handed-on.sqlite");
    let bit = draw() % (bytes.length * 8);
    for (;;) {
      writeFileSync(file, flipBit(bytes, bit));
      if ((await catchError(() => verify(file))) !== undefined) break;
      bit = draw() % (bytes.length * 8);
    }
    const data = join(testDirectory(), "data");
    const { code, stderr } = await runStandin(["import", file, "--data", data]);
    expect({ place: describeBit(bit), code, stderr }).toEqual({
      place: describeBit(bit),
      code: 1,
      stderr: expect.stringMatching(/^standin: .*\n$/),
    });
    const worlds = join(data, "worlds");
    expect(existsSync(worlds) ? readdirSync(worlds) : [], REPEAT).toEqual([]);
  }
});

test("exporting a corrupt world fails, so that no file with fresh checksums is written", async () => {
  const { bytes } = of("complete");
  const data = directoryWith(flipBit(bytes, bytes.indexOf("app shop 7") * 8));
  const out = join(testDirectory(), "out.sqlite");
  const { code, stderr } = await runStandin(["export", data, "--out", out]);
  expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringMatching(/^standin: .*damaged.*\n$/) });
  expect(readdirSync(join(out, ".."))).toEqual([]);
});

/** Checks that each file is either served as written or rejected, and that verify finds every change. */
async function expectJudged(
  whole: IntactWorld,
  files: readonly (readonly [name: string, bytes: Buffer])[],
): Promise<void> {
  const wrong: string[] = [];
  for (const [name, bytes] of files) {
    bench.replaceFile(bytes);
    const found = await catchError(() => verify(bench.file));
    bench.replaceFile(bytes);
    const served = await catchError(() => bench.serve(whole.questions));
    const judged = findMisjudgement(whole, served, found);
    if (judged !== undefined) wrong.push(`${name}: ${judged}`);
  }
  expect({ of: files.length, wrong: wrong.length, first: wrong.slice(0, 8) }, REPEAT).toEqual({
    of: files.length,
    wrong: 0,
    first: [],
  });
}

function differences(
  expected: Awaited<ReturnType<typeof queryAll>>,
  after: typeof expected,
  mayFail: boolean,
): string[] {
  return Object.entries(after)
    .filter(
      ([path, { status, text }]) =>
        !(mayFail && status === 503) && (status !== expected[path]?.status || text !== expected[path].text),
    )
    .map(([path, { status }]) => `${path} returned ${status}, which differs from before`);
}

/** The pages of these tables and indexes. */
function pagesOf(bytes: Buffer, ...names: string[]): number[] {
  bench.replaceFile(bytes);
  const sqlite = new BetterSqlite3(bench.file, { readonly: true });
  const rows = sqlite.prepare<[], { name: string; pageno: number }>("SELECT name, pageno FROM dbstat").all();
  sqlite.close();
  return rows.filter(({ name }) => names.includes(name)).map(({ pageno }) => pageno);
}

/**
 * The file with one bit flipped in the record header of an event, which turns its type from text into a blob.
 */
function withBlobFor(type: string, bytes: Buffer): Buffer {
  for (let at = bytes.indexOf(type); at >= 0; at = bytes.indexOf(type, at + 1)) {
    for (let head = at - 24; head < at; head += 1) {
      if (bytes[head] !== 13 + 2 * type.length) continue;
      const damaged = flipBit(bytes, head * 8);
      bench.replaceFile(damaged);
      const sqlite = new BetterSqlite3(bench.file, { readonly: true });
      const blobs = sqlite.prepare("SELECT count(*) FROM events WHERE typeof(type) = 'blob'").pluck().get();
      sqlite.close();
      if (blobs === 1) return damaged;
    }
  }
  throw new Error(`there is no event ${type}`);
}

/** The file with one bit flipped in a row of a table. */
async function withDamagedRow({ bytes, questions }: IntactWorld): Promise<Buffer> {
  for (
    let at = bytes.indexOf("left in the middle");
    at >= 0;
    at = bytes.indexOf("left in the middle", at + 1)
  ) {
    const damaged = flipBit(bytes, at * 8);
    bench.replaceFile(damaged);
    if ("refused" in (await bench.serve(questions))) return damaged;
  }
  throw new Error("there is no such row");
}

/** A data directory with this file as its default world. */
function directoryWith(bytes: Buffer): string {
  const data = testDirectory();
  for (const folder of ["worlds", "snapshots/default"]) mkdirSync(join(data, folder), { recursive: true });
  writeFileSync(join(data, "worlds/default.sqlite"), bytes);
  return data;
}
