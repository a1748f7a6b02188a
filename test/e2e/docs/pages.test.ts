import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { blocksOf, isPartPrinted, isPrinted, type PageCommand } from "../../support/docs/page-blocks.ts";
import { PageShell } from "../../support/docs/page-shell.ts";
import { testDirectory } from "../../support/server/running-server.ts";

// Each command of the README, the tutorials and the how-to guides runs, in the order of its page, and prints what
// the page shows. `STANDIN_UPDATE_DOCS=1` writes what they print into the pages.

const FOLDERS = ["docs/tutorials", "docs/how-to"];
const PAGES = [
  "README.md",
  "docs/explanation/keep-alive-comparison.md",
  ...FOLDERS.flatMap((folder) => readdirSync(folder).map((name) => join(folder, name))),
];
const TIMEOUT_MS = 600_000;
/** Pages of which no block can run here, and why. */
const NOT_RUN: Readonly<Record<string, string>> = {
  "docs/how-to/compare-servers.md": "it needs another account",
  "docs/how-to/install.md":
    "it installs and deploys; test/e2e/package/ and scripts/check-image.mjs do the same",
  "docs/how-to/monitor-a-server.md": "it needs Prometheus and a collector of traces",
};

test("every page with blocks runs some of them, except for the listed ones", () => {
  const notRun = PAGES.filter((page) => {
    const blocks = blocksOf(readFileSync(page, "utf8"));
    return blocks.length > 0 && blocks.every(({ kind }) => kind === "left out");
  });
  expect(notRun).toEqual(Object.keys(NOT_RUN));
});

test.each(PAGES)(
  "%s: its blocks do what it says",
  async (page) => {
    const text = readFileSync(page, "utf8");
    const shell = await PageShell.open(testDirectory());
    const differences: string[] = [];
    let updated = text;
    let output = "";
    try {
      for (const block of blocksOf(text)) {
        if (block.kind === "file") shell.writeFile(block.name, block.text);
        else if (block.kind === "output") {
          if (!isPartPrinted(block.text, output))
            differences.push(
              `line ${block.line}: the commands before print\n${output}\nand not\n${block.text}`,
            );
        } else if (block.kind === "commands") {
          output = "";
          for (const command of block.commands) {
            const printed = await run(shell, command, `${page}:${command.line}`);
            output += printed;
            const { text: line, printed: shown } = command;
            if (shown === undefined || isPrinted(shown, printed)) continue;
            differences.push(`line ${command.line}: ${line}\nprints\n${printed}\nand not\n${shown}`);
            if (!shown.includes("…"))
              updated = updated.replace(`$ ${line}\n${shown}`, () => `$ ${line}\n${printed}`);
          }
        }
      }
    } finally {
      await shell.close();
    }
    if (process.env["STANDIN_UPDATE_DOCS"] === "1") writeFileSync(page, updated);
    expect(differences.join("\n"), "STANDIN_UPDATE_DOCS=1 writes what the commands print").toBe("");
  },
  TIMEOUT_MS,
);

async function run(shell: PageShell, command: PageCommand, place: string): Promise<string> {
  if (command.isServer) {
    await shell.serve(command.text);
    return "";
  }
  const { status, output } = await shell.run(command.text);
  expect({ place, status, output }).toEqual({ place, status: command.status, output });
  return output;
}
