// The groups and pages of docs/index.md, in its order.
import { readFileSync } from "node:fs";

/** Each row of the first table is a group: `| Group | [title](path), [title](path) |`. Questions are no groups. Paths are relative to docs/. */
export function readTopics(indexFile) {
  const rows = readFileSync(indexFile, "utf8").matchAll(/^\| (?!Purpose|-)([^|?]+) \| (.+) \|$/gm);
  return [...rows].map(([, group, cell]) => ({
    group,
    topics: [...cell.matchAll(/\[([^\]]+)\]\(([^)]+)\)/g)].map(([, title, path]) => ({
      title,
      path,
    })),
  }));
}
