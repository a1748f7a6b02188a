import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { copyWithDigest } from "../../../src/cli/snapshot-files/push-snapshot.ts";
import { testDirectory } from "../../support/store/world-files.ts";

/** Copies a file to `target.sqlite` of a directory; `during` runs while the content is copied. */
function copying(during: (target: string) => void = () => undefined) {
  const directory = testDirectory();
  const file = join(testDirectory(), "file");
  writeFileSync(file, "content");
  const target = join(directory, "target.sqlite");
  const copied = copyWithDigest(file, target, new AbortController().signal, async () => during(target));
  return { directory, target, copied };
}

test("a copy has its checksum next to it", async () => {
  const { target, copied } = copying();
  const sha256 = await copied;
  expect(readFileSync(`${target}.sha256`, "utf8")).toBe(`${sha256}  target.sqlite\n`);
  expect(readFileSync(target, "utf8")).toBe("content");
});

test("a checksum that cannot be written is named, and leaves nothing", async () => {
  const { directory, target, copied } = copying((path) => mkdirSync(`${path}.sha256`));
  await expect(copied).rejects.toMatchObject({ message: `${target}.sha256: it is a directory; name a file` });
  expect(readdirSync(directory)).toEqual(["target.sqlite.sha256"]);
});

test("a copy that cannot be moved into place leaves no checksum", async () => {
  const { directory, target, copied } = copying((path) => mkdirSync(path));
  await expect(copied).rejects.toMatchObject({ message: `${target}: it is a directory; name a file` });
  expect(readdirSync(directory)).toEqual(["target.sqlite"]);
});
