import { execFileSync, spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { readText, TextTooLarge } from "../../../src/app/read-text.ts";
import { testDirectory } from "../../support/server/running-server.ts";

const MIB = 1024 ** 2;

test.each([0, 1, MIB - 1, MIB, 3 * MIB])("a text of %i bytes is read if its limit is as large", (bytes) => {
  const path = join(testDirectory(), "text");
  writeFileSync(path, "é".repeat(bytes / 2) + "x".repeat(bytes % 2));
  expect(Buffer.byteLength(readText(path, bytes))).toBe(bytes);
  expect(readText(path, bytes + 1)).toBe(readText(path, bytes));
  if (bytes > 0) expect(() => readText(path, bytes - 1)).toThrow(TextTooLarge);
});

test.runIf(process.platform !== "win32")("of a pipe no more is read than its limit", () => {
  const path = join(testDirectory(), "pipe");
  execFileSync("mkfifo", [path]);
  const endless = spawn("sh", ["-c", 'yes > "$1"', "sh", path]);
  onTestFinished(() => void endless.kill());
  expect(() => readText(path, 2 * MIB)).toThrow("is larger than 2 MiB");
});
