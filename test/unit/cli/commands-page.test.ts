import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { createProgram } from "../../../src/cli/program.ts";

test("the page of commands names every command, and no other", async () => {
  const page = readFileSync("docs/reference/commands.md", "utf8");
  const [list = ""] = page.split("## Daily use");
  const named = [...list.matchAll(/`standin (\w+)`/g)].map(([, name]) => name);
  const program = await createProgram([]);
  expect(named.sort()).toEqual(program.commands.map((command) => command.name()).sort());
});
