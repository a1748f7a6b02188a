import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { OutcomeUnknown } from "../../../src/simulation/journal.ts";
import {
  makeDirectory,
  makePrivateFile,
  moveIntoPlace,
  removeDatabase,
  replaceAndPreserve,
  syncEntry,
  temporaryPath,
  writeAtomically,
} from "../../../src/store/file/atomic-file.ts";
import { testDirectory } from "../../support/store/world-files.ts";

const text = (path: string) => (existsSync(path) ? readFileSync(path, "utf8") : undefined);
const modeOf = (path: string) => statSync(path).mode & 0o777;
const SUFFIXES = ["-wal", "-shm", "-journal", "-head"];

function filesToReplace() {
  const path = testDirectory();
  const files = {
    finished: join(path, "world.sqlite.unfinished"),
    current: join(path, "world.sqlite"),
    preserved: join(path, "snapshots", "previous.sqlite"),
  };
  writeFileSync(files.finished, "new");
  writeFileSync(files.current, "old");
  return files;
}

test("directories and files of worlds are private", () => {
  const path = testDirectory();
  const directory = join(path, "data", "worlds");
  makeDirectory(directory);
  makeDirectory(directory);
  expect([modeOf(join(path, "data")), modeOf(directory)]).toEqual([0o700, 0o700]);
  const file = join(directory, "world.sqlite");
  makePrivateFile(file);
  expect([modeOf(file), text(file)]).toEqual([0o600, ""]);
  writeFileSync(file, "content");
  makePrivateFile(file);
  expect(text(file)).toBe("content");
});

describe("moving a finished file into place", () => {
  test("replaces the file of that name", () => {
    const { finished, current } = filesToReplace();
    writeFileSync(`${finished}-wal`, "");
    moveIntoPlace(finished, current);
    expect([text(current), text(finished)]).toEqual(["new", undefined]);
  });

  test("changes nothing if its log could not be merged", () => {
    const { finished, current } = filesToReplace();
    writeFileSync(`${finished}-wal`, "not merged");
    expect(() => moveIntoPlace(finished, current)).toThrow(
      `${finished} is incomplete: its write-ahead log could not be merged, for example because the disk is full`,
    );
    expect([text(current), text(finished)]).toEqual(["old", "new"]);
  });

  test("removes what a deleted file of that name has left, which SQLite would apply to the new one", () => {
    const { finished, current } = filesToReplace();
    for (const suffix of SUFFIXES) writeFileSync(current + suffix, "left");
    rmSync(current);
    moveIntoPlace(finished, current);
    expect(text(current)).toBe("new");
    for (const suffix of SUFFIXES) expect(existsSync(current + suffix)).toBe(false);
  });

  test("leaves the mark of a file that it replaces", () => {
    const { finished, current } = filesToReplace();
    writeFileSync(`${current}-head`, "mark");
    moveIntoPlace(finished, current);
    expect(text(`${current}-head`)).toBe("mark");
  });
});

test("a name that cannot be synced may or may not be on disk", () => {
  const path = join(testDirectory(), "missing", "world.sqlite");
  expect(() => syncEntry(path)).toThrow(OutcomeUnknown);
  expect(() => syncEntry(path)).toThrow(
    expect.objectContaining({
      message: expect.stringContaining("ENOENT"),
      cause: expect.objectContaining({ code: "ENOENT" }),
    }),
  );
});

describe("a file that is replaced and preserved", () => {
  test("is found under the second name", () => {
    const { finished, current, preserved } = filesToReplace();
    let before: unknown;
    replaceAndPreserve(finished, current, preserved, () => {
      before = [text(current), text(preserved)];
    });
    expect(before).toEqual(["old", "old"]);
    expect([text(current), text(preserved), text(finished)]).toEqual(["new", "old", undefined]);
    expect(modeOf(join(preserved, ".."))).toBe(0o700);
  });

  test("is found under the second name if a hard link is not possible", ({ skip }) => {
    const { finished, current } = filesToReplace();
    const { dev } = statSync(current);
    const elsewhere = ["/dev/shm", "/tmp"].find((path) => existsSync(path) && statSync(path).dev !== dev);
    if (elsewhere === undefined) return skip();
    const other = mkdtempSync(join(elsewhere, "standin-test-"));
    onTestFinished(() => rmSync(other, { recursive: true }));
    const preserved = join(other, "snapshots", "previous.sqlite");
    replaceAndPreserve(finished, current, preserved);
    expect([text(current), text(preserved)]).toEqual(["new", "old"]);
    expect(readdirSync(join(preserved, ".."))).toEqual(["previous.sqlite"]);
  });

  test("stays, without the second name, if it cannot be replaced", () => {
    const { finished, current, preserved } = filesToReplace();
    writeFileSync(`${finished}-wal`, "not merged");
    expect(() => replaceAndPreserve(finished, current, preserved)).toThrow("is incomplete");
    expect([text(current), text(preserved)]).toEqual(["old", undefined]);
  });

  test("keeps a second name that existed before, with its content", () => {
    const { finished, current, preserved } = filesToReplace();
    replaceAndPreserve(finished, current, preserved);
    const { ino } = statSync(preserved);
    writeFileSync(finished, "newer");
    writeFileSync(`${finished}-wal`, "not merged");
    expect(() => replaceAndPreserve(finished, current, preserved)).toThrow("is incomplete");
    expect([text(current), text(preserved), statSync(preserved).ino]).toEqual(["new", "old", ino]);
    rmSync(`${finished}-wal`);
    replaceAndPreserve(finished, current, preserved);
    expect([text(current), text(preserved)]).toEqual(["newer", "old"]);
  });

  test("keeps the second name if it is unknown which file is on disk", () => {
    const { finished, current, preserved } = filesToReplace();
    const unknown = () => {
      throw new OutcomeUnknown("the disk does not answer");
    };
    expect(() => replaceAndPreserve(finished, current, preserved, unknown)).toThrow(OutcomeUnknown);
    expect(text(preserved)).toBe("old");
  });

  test("does not follow a second name that is a broken link", () => {
    const { finished, current, preserved } = filesToReplace();
    makeDirectory(join(preserved, ".."));
    symlinkSync("nowhere", preserved);
    expect(() => replaceAndPreserve(finished, current, preserved)).toThrow("EEXIST");
    expect([text(current), text(finished)]).toEqual(["old", "new"]);
  });

  test("must exist", () => {
    const { finished, current, preserved } = filesToReplace();
    rmSync(current);
    expect(() => replaceAndPreserve(finished, current, preserved)).toThrow("ENOENT");
    expect([text(finished), text(current), text(preserved)]).toEqual(["new", undefined, undefined]);
  });
});

test("a database is deleted with the files that belong to it, and no other file", () => {
  const directory = testDirectory();
  const path = join(directory, "world.sqlite");
  removeDatabase(path);
  for (const suffix of ["", ...SUFFIXES, "-other", ".unfinished"]) writeFileSync(path + suffix, "");
  removeDatabase(path);
  expect(readdirSync(directory).sort()).toEqual(["world.sqlite-other", "world.sqlite.unfinished"]);
});

describe("writing a file atomically", () => {
  test("creates its directory, and replaces what an interrupted attempt has left", async () => {
    const path = join(testDirectory(), "worlds", "world.sqlite");
    for (const content of ["one", "two"]) {
      let left: boolean[] = [];
      await writeAtomically(path, async (temporary) => {
        expect(temporary).toBe(temporaryPath(path));
        left = ["", ...SUFFIXES].map((suffix) => existsSync(temporary + suffix));
        writeFileSync(temporary, content);
      });
      expect(left).toEqual(Array(5).fill(false));
      expect([text(path), existsSync(temporaryPath(path))]).toEqual([content, false]);
      for (const suffix of ["", ...SUFFIXES]) writeFileSync(temporaryPath(path) + suffix, "left");
    }
  });

  test("changes nothing and leaves nothing if it fails", async () => {
    const { current, finished } = filesToReplace();
    const writing = writeAtomically(current, async (temporary) => {
      for (const suffix of ["", "-wal"]) writeFileSync(temporary + suffix, "half");
      throw new Error("full");
    });
    await expect(writing).rejects.toThrow("full");
    const finishing = writeAtomically(
      current,
      async (temporary) => writeFileSync(temporary, "whole"),
      () => {
        throw new Error("not now");
      },
    );
    await expect(finishing).rejects.toThrow("not now");
    expect([text(current), existsSync(finished), existsSync(`${finished}-wal`)]).toEqual([
      "old",
      false,
      false,
    ]);
  });

  test("can end in another way than by moving it into place", async () => {
    const { current } = filesToReplace();
    let finished: string | undefined;
    await writeAtomically(
      current,
      async (temporary) => writeFileSync(temporary, "whole"),
      (temporary) => {
        finished = text(temporary);
      },
    );
    expect([finished, text(current)]).toEqual(["whole", "old"]);
  });
});
