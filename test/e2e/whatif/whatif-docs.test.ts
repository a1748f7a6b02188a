import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { spawnCommand, waitForExit } from "../../support/process/process.ts";
import { testDirectory } from "../../support/server/running-server.ts";

const EXAMPLES = [
  "how-to/choose-a-delay.md",
  "how-to/find-what-keeps-computes-active.md",
  "how-to/choose-a-size.md",
  "tutorials/first-whatif.md",
];
const COMMAND = join(import.meta.dirname, "../../../dist/standin.js");

/** The commands of a document in order, each with its documented output. */
function commandsOf(document: string): { readonly args: readonly string[]; readonly printed: string }[] {
  const text = readFileSync(join("docs", document), "utf8");
  return [...text.matchAll(/^```console\n([\s\S]*?)^```$/gm)].flatMap(([, block = ""]) =>
    [...block.matchAll(/^\$ standin (.*)\n((?:(?!\$ ).*\n)*)/gm)].map(([, line = "", printed = ""]) => ({
      args: line.split(" "),
      printed,
    })),
  );
}

test.each(EXAMPLES)("%s: every command prints what the document says", async (document) => {
  const directory = testDirectory();
  const commands = commandsOf(document);
  expect(commands.length).toBeGreaterThanOrEqual(3);
  for (const { args, printed } of commands) {
    const inDirectory = ["sh", "-c", 'cd "$0" && exec "$@"', directory, process.execPath, COMMAND, ...args];
    const { code, stdout, stderr } = await waitForExit(spawnCommand(inDirectory));
    expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: printed, stderr: "" });
  }
});
