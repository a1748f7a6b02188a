import { gunzipSync, gzipSync } from "node:zlib";
import type BetterSqlite3 from "better-sqlite3";
import { describe, expect, test } from "vitest";
import { JOURNALED_TABLES } from "../../../src/platform/world/tables.ts";
import { emptyWorld } from "../../../src/platform/world/world.ts";
import { checkInvariants } from "../../../src/simulation/invariants.ts";
import { verifyFile } from "../../../src/store/file/verify-world.ts";
import { rechain } from "../../../src/store/journal/rechain.ts";
import { prepareReader, tableName } from "../../../src/store/tables/stored-tables.ts";
import { differencesAfter, worldFiles } from "../../support/store/verified-files.ts";
import { editWorldRow, inMemory } from "../../support/store/world-files.ts";

type Sqlite = BetterSqlite3.Database;

const files = worldFiles();

const journal = (message: unknown) => [{ where: "journal", message }];
const checkpoint = (message: unknown) => [{ where: "checkpoints", message }];

/** The first column of the keys that do not begin with an id. */
const KEYS: Readonly<Record<string, string>> = {
  revokedHashes: "hash",
  scheduledActivities: "number",
  faults: "name",
  hourlyUsage: "of",
};

// biome-ignore lint/suspicious/noExplicitAny: what a test damages need not be valid
type DamagedCheckpoint = any;

/** Edits a checkpoint as if it had been stored so. */
function editCheckpoint(sqlite: Sqlite, seq: number, edit: (checkpoint: DamagedCheckpoint) => void): void {
  const read = sqlite.prepare<[number], Buffer>("SELECT world FROM checkpoints WHERE seq = ?").pluck();
  const world = JSON.parse(gunzipSync(read.get(seq) as Buffer).toString());
  edit(world);
  sqlite.prepare("UPDATE checkpoints SET world = ? WHERE seq = ?").run(gzipSync(JSON.stringify(world)), seq);
}

describe("an intact file", () => {
  test("equals the replay of its whole journal", async () => {
    const { complete, head, simulated } = files;
    const sqlite = inMemory(complete);
    const { rows, ...verification } = await verifyFile(sqlite, async () => undefined);
    expect(verification).toEqual({
      ok: true,
      from: 0,
      to: head,
      checkpoints: 2,
      invariants: checkInvariants(simulated.world, simulated.now).checked,
      differences: [],
    });
    const count = (name: string) =>
      sqlite.prepare<[], number>(`SELECT count(*) FROM ${name}`).pluck().get() ?? 0;
    const counts = JOURNALED_TABLES.map((name) => count(tableName(name)));
    expect(Math.min(...counts)).toBeGreaterThan(0);
    expect(rows).toBeGreaterThan(counts.reduce((sum, rows) => sum + rows));
  });

  test("equals the replay from the checkpoint where its history begins", async () => {
    const { truncated, first, head } = files;
    expect(await verifyFile(inMemory(truncated), async () => undefined)).toMatchObject({
      ...{ ok: true, from: first, to: head, checkpoints: 1, differences: [] },
    });
  });

  test("is read from checkpoint to checkpoint, and the progress is reported", async () => {
    const { complete, truncated, first, second, head } = files;
    for (const [file, from] of [
      [complete, 0],
      [truncated, first],
    ] as const) {
      const reported: number[][] = [];
      await verifyFile(inMemory(file), async (...progress) => void reported.push(progress));
      const ends = [first, second, head].filter((seq) => seq > from);
      expect(reported).toEqual(ends.map((seq) => [seq - from, head - from]));
    }
  });

  test("an error of the caller is not taken for damage", async () => {
    const stopped = verifyFile(inMemory(files.complete), () => Promise.reject(new Error("stopped")));
    await expect(stopped).rejects.toThrow("stopped");
  });
});

test("a file without a world has nothing to verify", async () => {
  expect(await differencesAfter(files.empty, () => undefined)).toEqual(
    journal("the file contains no world yet"),
  );
});

describe("the world row", () => {
  const edited = (edit: Parameters<typeof editWorldRow>[1]) =>
    differencesAfter(files.complete, (sqlite) => editWorldRow(sqlite, edit));

  test("with other settings, counters or another instant is found", async () => {
    const { settings, numbers, at } = files.simulated.world;
    const others = { ...settings, seed: settings.seed + 1 };
    const counters = { ...numbers, project: numbers.project + 1 };
    const [fromSettings, fromNumbers] = [settings, numbers].map((value) => JSON.stringify(value));
    expect(await edited((row) => Object.assign(row, { settings: JSON.stringify(others) }))).toEqual([
      {
        where: "world",
        message: `settings is ${JSON.stringify(others)}, but the journal gives ${fromSettings}`,
      },
    ]);
    expect(await edited((row) => Object.assign(row, { numbers: JSON.stringify(counters) }))).toEqual([
      {
        where: "world",
        message: `numbers is ${JSON.stringify(counters)}, but the journal gives ${fromNumbers}`,
      },
    ]);
    expect(await edited((row) => Object.assign(row, { at: at - 1 }))).toEqual([
      { where: "world", message: `at is ${at - 1}, but the journal gives ${at}` },
    ]);
  });

  test("with a clock that contradicts the world is found by an invariant", async () => {
    const differences = await edited((row) => Object.assign(row, { now: row["at"] - 1 }));
    expect(differences).not.toEqual([]);
    const { violations } = checkInvariants(files.simulated.world, files.simulated.world.at - 1);
    expect(differences).toEqual(
      violations.map(({ invariant, message }) => ({
        where: "invariants",
        message: `${invariant}: ${message}`,
      })),
    );
  });

  test("at another event than the journal is found", async () => {
    const { head } = files;
    const previous = inMemory(files.complete)
      .prepare<[number], { seq: number; chain: number }>("SELECT seq, chain FROM events WHERE seq = ?")
      .get(head - 1);
    expect(await edited((row) => Object.assign(row, previous))).toEqual(
      journal(`the tables are at event ${head - 1}, but the journal continues after it`),
    );
    expect(await edited((row) => Object.assign(row, { seq: head + 1 }))).toEqual(
      journal(`the journal ends at event ${head}, but the tables are at event ${head + 1}`),
    );
  });

  test("that was written with another event is found", async () => {
    expect(await edited((row) => Object.assign(row, { chain: row["chain"] + 1 }))).toEqual(
      journal(expect.stringMatching(`event ${files.head} `)),
    );
  });
});

describe("the journal", () => {
  test("with a changed, a missing or an additional event is found", async () => {
    const { complete, truncated, first, head } = files;
    for (const file of [complete, truncated]) {
      const event = first + 2;
      expect(
        await differencesAfter(file, (sqlite) =>
          sqlite.prepare("UPDATE events SET at = at + 1 WHERE seq = ?").run(event),
        ),
      ).toEqual(journal(expect.stringContaining(`event ${event} `)));
      expect(
        await differencesAfter(file, (sqlite) =>
          sqlite.prepare("DELETE FROM events WHERE seq = ?").run(head),
        ),
      ).toEqual(journal(`the journal ends at event ${head - 1}, but the tables are at event ${head}`));
      expect(
        await differencesAfter(file, (sqlite) =>
          sqlite.exec(
            "INSERT INTO events SELECT seq + 1, at, type, payload, decision, chain FROM events ORDER BY seq DESC LIMIT 1",
          ),
        ),
      ).not.toEqual([]);
    }
  });

  test("with an event that contradicts those before it is found, although every checksum is right", async () => {
    const { simulated, complete } = files;
    const updated = simulated.events.find(({ type }) => type === "BranchUpdated")?.seq ?? 0;
    expect(
      await differencesAfter(complete, (sqlite) =>
        rechain(sqlite, (event) =>
          event.seq === updated ? { ...event, payload: event.payload.replace("br-dev", "br-none") } : event,
        ),
      ),
    ).toEqual(journal(expect.stringMatching(/^event \d+ contradicts the events before it: ./)));
  });

  test("without the checkpoint where it begins cannot be verified", async () => {
    const { truncated, first } = files;
    expect(await differencesAfter(truncated, (sqlite) => sqlite.exec("DELETE FROM checkpoints"))).toEqual(
      journal(`checkpoint ${first}, where history begins, is missing`),
    );
  });
});

describe("a checkpoint", () => {
  const edited = (edit: (checkpoint: DamagedCheckpoint) => void) =>
    differencesAfter(files.complete, (sqlite) => editCheckpoint(sqlite, files.second, edit));

  test("with other counters is found", async () => {
    const differences = await edited(({ numbers }) => {
      numbers.branch += 1;
    });
    expect(differences).toEqual(
      checkpoint(expect.stringMatching(`^checkpoint ${files.second} is .*, but the journal gives `)),
    );
  });

  test.each(JOURNALED_TABLES)("with other rows of %s is found, and each row is named", async (name) => {
    const { second } = files;
    const place = `${tableName(name)} of checkpoint ${second}`;
    const keyOf = (row: unknown) => emptyWorld()[name].keyOf(row as never);
    let keys: string[] = [];
    const differences = await edited(({ tables }) => {
      const row = tables[name].pop();
      const key = KEYS[name] ?? "id";
      const other = { ...row, [key]: typeof row[key] === "number" ? 98 : "unknown" };
      tables[name].push("number" in row ? { ...other, number: 98 } : other);
      keys = [keyOf(other), keyOf(row)];
    });
    const [added, removed] = keys;
    expect(differences.map(({ message }) => message)).toEqual([
      `${added} is in ${place} but not in the journal`,
      `${removed} is in the journal but not in ${place}`,
    ]);
  });

  test("with a row with another value is found", async () => {
    const { second } = files;
    const differences = await edited(({ tables }) => {
      tables.projects[0].name = "edited";
    });
    expect(differences).toEqual(
      checkpoint(
        expect.stringMatching(
          `^shop in projects of checkpoint ${second} is \\{.*"name":"edited".*\\}, but the journal gives \\{`,
        ),
      ),
    );
  });

  test("with its rows in another order is the same", async () => {
    expect(await edited(({ tables }) => tables.branches.reverse())).toEqual([]);
    // Releases before the first fault stored no such table.
    expect(
      await edited(({ tables }) => {
        delete tables.faults;
      }),
    ).toEqual(checkpoint(`slow is in the journal but not in faults of checkpoint ${files.second}`));
  });

  test("that cannot be decompressed is found, and the rest is verified all the same", async () => {
    const { complete, second } = files;
    const sqlite = inMemory(complete);
    sqlite.prepare("UPDATE checkpoints SET world = substr(world, 1, 100) WHERE seq = ?").run(second);
    expect(await verifyFile(sqlite, async () => undefined)).toMatchObject({
      to: files.head,
      differences: checkpoint(`checkpoint ${second} is damaged`),
    });
  });

  test("with another instant or chain checksum is found", async () => {
    const { complete, truncated, first, second } = files;
    for (const [file, seq] of [
      [complete, second],
      [truncated, first],
    ] as const)
      expect(
        await differencesAfter(file, (sqlite) =>
          sqlite.prepare("UPDATE checkpoints SET at = at - 1 WHERE seq = ?").run(seq),
        ),
      ).toEqual(
        checkpoint(
          expect.stringMatching(`^the instant of checkpoint ${seq} is \\d+, but the journal gives \\d+$`),
        ),
      );
    expect(
      await differencesAfter(complete, (sqlite) =>
        sqlite.prepare("UPDATE checkpoints SET chain = chain + 1 WHERE seq = ?").run(second),
      ),
    ).toEqual(
      checkpoint(
        expect.stringMatching(
          `^the chain checksum of checkpoint ${second} is \\d+, but the journal gives \\d+$`,
        ),
      ),
    );
  });

  test("after the last event is found", async () => {
    const { complete, head } = files;
    const insert =
      "INSERT INTO checkpoints (seq, at, chain, world) SELECT ?, at, chain, world FROM checkpoints LIMIT 1";
    expect(await differencesAfter(complete, (sqlite) => sqlite.prepare(insert).run(head + 5))).toEqual(
      checkpoint(`checkpoint ${head + 5} is after the last event`),
    );
  });
});

test("work that was due before the instant of the clock is a difference, except in a file of an earlier release", async () => {
  const sqlite = inMemory(files.complete);
  const due = Math.min(...prepareReader<{ at: number }>(sqlite, "scheduledActivities")().map(({ at }) => at));
  const differencesAt = async (now: number, version?: number) => {
    editWorldRow(sqlite, (row) => {
      row["now"] = now;
    });
    return (await verifyFile(sqlite, async () => undefined, version)).differences;
  };
  expect(await differencesAt(files.simulated.now)).toEqual([]);
  const messages = (await differencesAt(due + 1)).map(({ message }) => message);
  expect(messages).toContain(`all due work has run: activity 1 was due before ${due + 1}`);
  expect(await differencesAt(due + 1, 9)).toEqual([]);
});
