// Checks what the pages for developers say about the repository: each file, folder and npm script that they name exists,
// each type of the glossary is defined in the file that the glossary names, and each example of code is in its file. The page
// about the architecture has every folder.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { githubSlug } from "../site/github-slug.mjs";

const PAGES = [
  "CONTRIBUTING.md",
  "SECURITY.md",
  "docs/explanation/architecture.md",
  "docs/explanation/reliability.md",
  "docs/glossary.md",
  "docs/evidence.md",
  "docs/patterns.md",
  ...readdirSync("docs/explanation/decisions").map((name) => `docs/explanation/decisions/${name}`),
];
/** Where a path of a page may begin. */
const ROOTS = ["", "src", "test", "docs", "src/platform", "src/postgres", "test/adversary/postgres"];
const SKIPPED = new Set(["node_modules", "dist", "reports", "coverage"]);
/**
 * Paths that pages name although the repository does not have them: output, files of a data directory, files of others.
 */
const ELSEWHERE = new Set([
  ...["dist/", "bench/results/", "tls/", "server.json", "public-v2-for-users.gen.yaml", "pg_temp.json"],
  // Folders of the past.
  ...["observe/", "setup/", "whatif-commands/"],
]);
const PATH = /^(?:[\w@.<>*…-]+\/)*[\w@.<>*…-]+\.(?:tsx?|mjs|sh|ya?ml|json|css|md|sql)$/;
const FOLDER = /^(?:[\w@.-]+\/)+$/;
const MINIMUM = 200;

const files = new Set();
const folders = new Set();
for (const entry of readdirSync(".", { recursive: true, withFileTypes: true })) {
  const path = join(entry.parentPath ?? entry.path, entry.name);
  if (SKIPPED.has(path.split("/")[0])) continue;
  if (!entry.isFile()) continue;
  files.add(path);
  // A folder without files is not in the repository.
  for (let folder = dirname(path); folder !== "."; folder = dirname(folder)) folders.add(folder);
}
const names = new Set([...files].map((path) => basename(path)));
const folderNames = new Set(
  [...folders].flatMap((path) => path.split("/").map((_, at, parts) => parts.slice(at).join("/"))),
);
const scripts = JSON.parse(readFileSync("package.json", "utf8")).scripts;

const problems = [];
let checked = 0;
for (const page of PAGES) {
  for (const [index, line] of readFileSync(page, "utf8").split("\n").entries()) {
    const report = (problem) => problems.push(`${page}:${index + 1}: ${problem}`);
    for (const [, code] of line.matchAll(/`([^`]+)`/g)) {
      for (const [, script] of code.matchAll(/npm run ([\w:-]+)/g)) {
        checked += 1;
        if (!(script in scripts)) report(`npm run ${script}: package.json has no such script`);
      }
      for (const word of code.split(/[\s"',]+/)) {
        const path = word.replace(/:\d+$/, "");
        if (/[<>*…{}]/.test(path) || ELSEWHERE.has(path)) continue;
        if (PATH.test(path)) {
          checked += 1;
          const isThere = path.includes("/")
            ? [...ROOTS, dirname(page)].some((root) => existsSync(join(root, path)))
            : names.has(path);
          if (!isThere) report(`${path} does not exist`);
        } else if (FOLDER.test(path)) {
          checked += 1;
          if (!folderNames.has(path.slice(0, -1))) report(`the folder ${path} does not exist`);
        }
      }
    }
  }
}
// Whoever looks for the place of a change finds every folder of the first two levels in the tables.
const ARCHITECTURE = "docs/explanation/architecture.md";
const described = readFileSync(ARCHITECTURE, "utf8");
for (const folder of folders) {
  if (!/^(?:src(?:\/[\w-]+){1,2}|(?:packages|test)\/[\w-]+)$/.test(folder)) continue;
  checked += 1;
  if (!described.includes(`\`${basename(folder)}/`) && !described.includes(`/${basename(folder)}/\``))
    problems.push(`${ARCHITECTURE}: no table has the folder ${folder}/`);
}
// An example of code has its file on the line before, and is in that file.
const blocks = readFileSync("docs/patterns.md", "utf8").matchAll(/^`([^`\n]+)`\n\n```ts\n(.*?)\n```$/gms);
for (const [, path, code] of blocks) {
  checked += 1;
  if (!existsSync(path) || !readFileSync(path, "utf8").includes(`${code}\n`))
    problems.push(`docs/patterns.md: ${path} does not contain:\n${code}`);
}
for (const [index, line] of readFileSync("docs/glossary.md", "utf8").split("\n").entries()) {
  const [, , , type, file] = line.split("|").map((cell) => cell.trim().replaceAll("`", ""));
  if (type === undefined || file === undefined || !file.endsWith(".ts")) continue;
  checked += 1;
  const path = join("src", file);
  const source = existsSync(path) ? readFileSync(path, "utf8") : "";
  const isDefined = new RegExp(
    `^export (?:abstract )?(?:type|interface|class|function|const) ${type}\\b`,
    "m",
  ).test(source);
  if (!isDefined) problems.push(`docs/glossary.md:${index + 1}: ${path} does not define ${type}`);
}
const decisions = readFileSync("docs/explanation/decisions/README.md", "utf8");
for (const name of readdirSync("docs/explanation/decisions").filter((name) => /^\d/.test(name))) {
  checked += 1;
  const [title] = readFileSync(join("docs/explanation/decisions", name), "utf8").split("\n");
  if (!decisions.includes(`- [${title.replace("# ", "")}](${name})\n`))
    problems.push(
      `docs/explanation/decisions/README.md: a line "- [${title.replace("# ", "")}](${name})" is missing`,
    );
}
const PAGE_OF_COMMAND = /^ {4}"?[\w ]+"?: "([\w/-]+\.md)(?:#([\w-]+))?",$/gm;
const commandPages = readFileSync("src/cli/docs/command-pages.ts", "utf8");
for (const [, page, id] of commandPages.matchAll(PAGE_OF_COMMAND)) {
  checked += 1;
  const path = join("docs", page);
  const headings = existsSync(path) ? readFileSync(path, "utf8").matchAll(/^#+ (.+)$/gm) : undefined;
  if (headings === undefined) problems.push(`src/cli/docs/command-pages.ts: ${path} does not exist`);
  else if (id !== undefined && ![...headings].some(([, heading]) => githubSlug(heading) === id))
    problems.push(`src/cli/docs/command-pages.ts: ${path} has no heading #${id}`);
}
for (const problem of problems) console.error(problem);
if (checked < MINIMUM) console.error(`only ${checked} names were checked, at least ${MINIMUM} are expected`);
console.log(`docs: ${checked} names of files, folders, scripts and types, ${problems.length} problems`);
process.exitCode = problems.length === 0 && checked >= MINIMUM ? 0 : 1;
