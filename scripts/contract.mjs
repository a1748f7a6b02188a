// Writes docs/reference/contract.md: every statement of test/contract/statements, the scenario that shows it, the tests that defend it and the
// planted bug that they find. Run it after a change of a statement: `node scripts/contract.mjs`. With `--check` it writes nothing and fails if
// the page is out of date. test/unit/contract-statements.test.ts checks that what it names exists.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { pathToFileURL } from "node:url";
import { build } from "esbuild";

const DOCUMENT_FILE = "docs/reference/contract.md";
/** From the page to the root of the repository. */
const ROOT = "../..";

const isCheck = process.argv.includes("--check");
const directory = mkdtempSync(join("node_modules", ".contract-"));
try {
  const outfile = join(directory, "statements.mjs");
  await build({
    entryPoints: ["test/contract/statements/statements.ts"],
    bundle: true,
    platform: "node",
    format: "esm",
    outfile,
  });
  const { SECTIONS } = await import(pathToFileURL(outfile).href);
  const text = pageOf(SECTIONS);
  if (!isCheck) writeFileSync(DOCUMENT_FILE, text);
  else if (readFileSync(DOCUMENT_FILE, "utf8") !== text) {
    console.error(`${DOCUMENT_FILE} is out of date; run node scripts/contract.mjs`);
    process.exitCode = 1;
  }
} finally {
  rmSync(directory, { recursive: true });
}

function pageOf(sections) {
  const statements = sections.flatMap((section) => section.statements);
  const count = (has) => statements.filter(has).length;
  return `# Contract

This page lists what the imitated platform does, one statement per row, and what would detect it if standin stopped doing
it. \`scripts/contract.mjs\` writes it from \`test/contract/statements/\`. \`npm test\` fails if a statement has no test,
or if a test, scenario or planted bug that a row names does not exist.

| Column | Meaning |
|---|---|
| Evidence | Where the statement comes from: the [letters](../evidence.md#letters) |
| Scenario | The shipped scenario that shows it. \`standin run\` runs it |
| Tests | The tests that fail if it does not hold. A statement of the reference (R) has at least one rule (\`test/rules/\`), property (\`test/property/\`), or test of SQL (\`test/postgres/\`) |
| Planted bug | A mistake that breaks it. \`npm run planted -- --only <id>\` plants it in a copy, and expects that these tests find it |

Of ${statements.length} statements, ${count(({ evidence }) => evidence.startsWith("R"))} are of the reference, ${count(({ scenario }) => scenario !== undefined)} have a scenario, and ${count(({ plantedBug }) => plantedBug !== undefined)} have a planted bug.

${sections.map(({ title, statements }) => `- [${title}](#${anchorOf(title)}): ${statements.length}`).join("\n")}

No statement of the reference is known not to hold. [Postgres](postgres.md#differences-from-the-real-platform) lists
differences of real Postgres.

${sections.map(sectionOf).join("\n\n")}
`;
}

function anchorOf(title) {
  return title
    .toLowerCase()
    .replaceAll(/[^a-z0-9 -]/g, "")
    .replaceAll(" ", "-");
}

function sectionOf({ title, scenarios, statements }) {
  const promise =
    scenarios === "each" ? "Each statement has a scenario, or the reason why there is none.\n\n" : "";
  return `## ${title}

${promise}| Statement | Evidence | Scenario | Tests | Planted bug |
|---|---|---|---|---|
${statements.map(rowOf).join("\n")}`;
}

function rowOf({ statement, evidence, scenario, noScenario = "", tests, plantedBug }) {
  const shown = scenario === undefined ? noScenario : `[${basename(scenario, ".yaml")}](${ROOT}/${scenario})`;
  const defended = tests.map(({ file, title }) => `[${escaped(title)}](${ROOT}/${file})`).join("<br>");
  const bug = plantedBug === undefined ? "" : `\`${plantedBug}\``;
  return `| ${statement} | ${evidence} | ${shown} | ${defended} | ${bug} |`;
}

/** Escapes a title for the text of a link in a cell. */
function escaped(title) {
  return title.replaceAll(/[[\]|\\<>*_]/g, "\\$&");
}
