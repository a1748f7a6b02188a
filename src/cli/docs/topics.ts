import { readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { PACKAGE_ROOT } from "../../app/package-root.ts";

/** A page of docs/index.md. */
export type Topic = {
  /** The row of the table, such as `Set up`. */
  readonly group: string;
  /** Name of the topic on the command line: the name of the file. */
  readonly name: string;
  readonly title: string;
  /** Relative to docs/. */
  readonly path: string;
};

const ROW = /^\| (?!Purpose|-)([^|]+) \| (.+) \|$/gm;
const LINK = /\[([^\]]+)\]\(([^)]+)\)/g;

export const DOCS_FOLDER = join(PACKAGE_ROOT, "docs");

/** The topics of the documentation of this version, in the order of its first page. */
export function readTopics(): readonly Topic[] {
  const index = readFileSync(join(DOCS_FOLDER, "index.md"), "utf8");
  return [...index.matchAll(ROW)].flatMap(([, group = "", cell = ""]) =>
    [...cell.matchAll(LINK)].map(([, title = "", path = ""]) => ({ group, name: nameOf(path), title, path })),
  );
}

/** The name of the file, with the heading; for the first page of a folder, the name of the folder. */
function nameOf(path: string): string {
  const name = basename(path).replace(/\.md(?=#|$)/, "");
  return name === "README" ? basename(join(path, "..")) : name;
}
