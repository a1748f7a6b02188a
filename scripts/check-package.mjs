// Installs the packed package in an empty directory, as a user would, and compares the number of its packages and its size
// with the table of docs/how-to/install.md. Needs the registry, so `npm run check` does not include it.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const PAGE = "docs/how-to/install.md";
const MB = 1e6;
const major = Number.parseInt(process.versions.node, 10);
const directory = mkdtempSync(join(tmpdir(), "standin-package-"));
try {
  // Runs scripts/docs.mjs first: the package contains the built documentation.
  const packed = execFileSync("npm", [
    "pack",
    "--json",
    "--foreground-scripts=false",
    "--pack-destination",
    directory,
  ]);
  const [{ filename }] = JSON.parse(packed.toString());
  writeFileSync(join(directory, "package.json"), '{"private":true}\n');
  execFileSync("npm", ["install", "--no-audit", "--no-fund", `./${filename}`], {
    cwd: directory,
    stdio: "inherit",
  });
  const measured = measure(directory);
  const stated = statedFor(major);
  console.log(`Node ${major}: ${measured.packages} packages, ${measured.mb} MB`);
  if (stated === undefined) throw new Error(`${PAGE} has no row for Node ${major}`);
  if (stated.packages !== measured.packages || stated.mb !== measured.mb)
    throw new Error(`${PAGE} states ${stated.packages} packages and ${stated.mb} MB for Node ${major}`);
} finally {
  rmSync(directory, { recursive: true });
}

/** Without the objects of a build of SQLite, which an installation with a prebuilt module does not have. */
function measure(at) {
  const { packages } = JSON.parse(readFileSync(join(at, "package-lock.json"), "utf8"));
  const modules = join(at, "node_modules");
  const bytes = readdirSync(modules, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name))
    .filter((file) => !file.includes(join("better-sqlite3", "build")) || file.endsWith("better_sqlite3.node"))
    .reduce((sum, file) => sum + statSync(file).size, 0);
  return {
    packages: Object.keys(packages).filter((path) => path.startsWith("node_modules/")).length,
    mb: Math.round(bytes / MB),
  };
}

function statedFor(node) {
  const rows = readFileSync(PAGE, "utf8").matchAll(/^\| Node ([\d ,and]+) \| (\d+) \| (\d+) MB /gm);
  for (const [, nodes, packages, mb] of rows)
    if (nodes.match(/\d+/g).map(Number).includes(node)) return { packages: Number(packages), mb: Number(mb) };
  return undefined;
}
