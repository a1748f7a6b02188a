// @ts-nocheck
import { expect, test } from "vitest";
import { printable } from "../../../../src/cli/terminal/print.ts";
import { formatTable } from "../../../../src/cli/terminal/text-table.ts";

const ESC = "\u001b";

test.each([
  ["an escape sequence that clears the screen", `a${ESC}[2Jb`, "a\\u001b[2Jb"],
  ["a title of the window", `${ESC}]0;title\u0007`, "\\u001b]0;title\\u0007"],
  ["a control character of eight bits", "\u009b2J", "\\u009b2J"],
  ["a return to the start of the line", "safe\rbad", "safe\\u000dbad"],
  ["text that runs backwards", "a\u202eb\u2066", "a\\u202eb\\u2066"],
  ["deleted characters", "a\u0008\u007f", "a\\u0008\\u007f"],
  ["hidden text", `${ESC}[8m`, "\\u001b[8m"],
])("%s is printed as text", (_, text, shown) => {
  expect(printable(text)).toBe(shown);
});

test("lines, tabs, letters of all languages and our own colors stay as they are", () => {
  const text = `größe\t名前 👍\n${ESC}[31mred${ESC}[39m ${ESC}[1mbold${ESC}[22m`;
  expect(printable(text)).toBe(text);
});

test("escaped JSON is the same value", () => {
  const value = { name: "a\u009b\u202e\u007f" };
  expect(JSON.parse(printable(JSON.stringify(value)))).toEqual(value);
});

test("a name with a line feed cannot add a row to a table", () => {
  const table = formatTable(["NAME"], [["one\ntwo"], [`${ESC}[2K`]]);
  expect(table.split("\n")).toEqual(["NAME", "one\\ntwo", "\\u001b[2K"]);
});
