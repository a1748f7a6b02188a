import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import {
  HostsFile,
  hostsBlock,
  hostsIn,
  withHostsBlock,
  withoutHostsBlock,
} from "../../../src/app/hosts-file.ts";
import { testDirectory } from "../../support/store/world-files.ts";

const ENTRY = { address: "127.0.0.1", names: ["ep-a.example.test", "ep-a-pooler.example.test"] };
const OTHER = { address: "127.0.0.1", names: ["ep-b.example.test"] };

test.each([
  ["an empty file", ""],
  ["a file with a last line end", "127.0.0.1 localhost\n"],
  ["a file with comments and empty lines", "127.0.0.1 localhost\n\n# mine\n10.0.0.1 db\n"],
])("%s is the same after install and remove", (_, text) => {
  expect(withoutHostsBlock(withHostsBlock(text, [ENTRY]))).toBe(text);
});

test("a second install replaces the block of the first", () => {
  const first = withHostsBlock("127.0.0.1 localhost\n", [ENTRY]);
  expect(withHostsBlock(first, [OTHER])).toBe(`127.0.0.1 localhost\n${hostsBlock([OTHER])}`);
});

test("lines after a mark whose end is missing stay", () => {
  const text = "# standin hosts: begin\n10.0.0.1 db\n";
  expect(withoutHostsBlock(text)).toBe(text);
});

test("the first line with a name decides, in any case of letters and without comments", () => {
  const hosts = hostsIn("10.0.0.1 DB # 10.0.0.9 x\n127.0.0.1 db other\n\n# 10.0.0.2 none\n");
  expect([...hosts]).toEqual([
    ["db", "10.0.0.1"],
    ["other", "127.0.0.1"],
  ]);
});

test("a hosts file is read again after it has changed, and may be missing", () => {
  const path = join(testDirectory(), "hosts");
  const file = new HostsFile(path);
  expect(file.leadsHere("ep-a.example.test")).toBe(false);
  writeFileSync(path, hostsBlock([ENTRY]));
  expect(file.leadsHere("EP-A.example.test")).toBe(true);
  expect(file.leadsHere("ep-b.example.test")).toBe(false);
  writeFileSync(path, "10.0.0.1 ep-a.example.test and-longer\n");
  expect(file.leadsHere("ep-a.example.test")).toBe(false);
});
