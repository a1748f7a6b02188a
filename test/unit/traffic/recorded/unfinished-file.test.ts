import { spawnSync } from "node:child_process";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import {
  createUnfinished,
  removeOwnUnfinished,
} from "../../../../src/traffic/recorded/trace-files/unfinished-file.ts";

const DEAD = spawnSync(process.execPath, ["--version"]).pid;
const LONG_AGO = new Date("2020-01-01T00:00:00Z");

function directoryWith(files: readonly string[], modified?: Date) {
  const path = mkdtempSync(join(tmpdir(), "standin-unfinished-"));
  onTestFinished(() => rmSync(path, { recursive: true }));
  for (const name of files) {
    writeFileSync(join(path, name), "mine");
    if (modified !== undefined) utimesSync(join(path, name), modified, modified);
  }
  return path;
}

test("an unfinished file gets a name that no file has", () => {
  const taken = ["t.csv", "t.csv.unfinished", `t.csv.${process.pid}-1.unfinished`];
  const directory = directoryWith(taken, LONG_AGO);
  const created = createUnfinished(join(directory, "t.csv"));
  expect(created).toBe(join(directory, `t.csv.${process.pid}-2.unfinished`));
  expect(readFileSync(created, "utf8")).toBe("");
  for (const name of taken) expect(readFileSync(join(directory, name), "utf8")).toBe("mine");
});

test("what a killed process left for the same output long ago is removed, and nothing else", () => {
  const kept = [
    `t.csv.${process.ppid}-1.unfinished`,
    `u.csv.${DEAD}-1.unfinished`,
    `t.csv.${DEAD}-x.unfinished`,
    `t.csv.${DEAD}-1.unfinished.txt`,
  ];
  const directory = directoryWith([...kept, `t.csv.${DEAD}-1.unfinished`], LONG_AGO);
  rmSync(createUnfinished(join(directory, "t.csv")));
  expect(readdirSync(directory).sort()).toEqual([...kept].sort());
});

test("a file that was written lately stays, because a process elsewhere may have its number", () => {
  const directory = directoryWith([`t.csv.${DEAD}-1.unfinished`]);
  rmSync(createUnfinished(join(directory, "t.csv")));
  expect(readdirSync(directory)).toEqual([`t.csv.${DEAD}-1.unfinished`]);
});

test("a thread that was ended leaves nothing after its process has removed its files", () => {
  const directory = directoryWith(["t.csv.unfinished"]);
  createUnfinished(join(directory, "t.csv"));
  removeOwnUnfinished(join(directory, "t.csv"));
  expect(readdirSync(directory)).toEqual(["t.csv.unfinished"]);
});

test("the files of a database that was left are removed with it, and none of them gets a new database", () => {
  const left = ["", "-wal", "-shm", "-journal"].map((suffix) => `t.db.${DEAD}-1.unfinished${suffix}`);
  const directory = directoryWith([...left, `t.db.${process.pid}-1.unfinished-wal`], LONG_AGO);
  const created = createUnfinished(join(directory, "t.db"));
  expect(created).toBe(join(directory, `t.db.${process.pid}-2.unfinished`));
  rmSync(created);
  expect(readdirSync(directory)).toEqual([`t.db.${process.pid}-1.unfinished-wal`]);
});

test("what cannot be removed prevents no output", () => {
  const directory = directoryWith([]);
  const left = join(directory, `t.csv.${DEAD}-1.unfinished`);
  mkdirSync(left);
  utimesSync(left, LONG_AGO, LONG_AGO);
  rmSync(createUnfinished(join(directory, "t.csv")));
  expect(readdirSync(directory)).toEqual([`t.csv.${DEAD}-1.unfinished`]);
});
