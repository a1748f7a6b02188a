import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

// The questions that newcomers ask: the index of the documentation answers each with one click.

/** Words of the question, and words that the answer must have. */
const QUESTIONS = [
  [/branch fail once/, /first: 1/],
  [/retries of 423/, /status: 423/],
  [/GitHub Actions/, /uses: /],
  [/connection string/, /DATABASE_URL/],
  [/back to yesterday/, /snapshots restore/],
  [/not suspend/, /standin explain/],
  [/teams share/, /cell/],
  [/Terraform/, /provider/],
  [/not simulated/, /NOT_IMITATED/],
  [/reset a world/, /_sim\/reset/],
  [/Docker/, /docker compose/],
  [/fill tables/, /create table/],
  [/neonctl hang/, /clock advance --next/],
  [/upgrade/, /npm install/],
  [/systems/, /Linux x64/],
] as const;

const index = readFileSync("docs/index.md", "utf8");
const rows = [...index.matchAll(/^\| (.*\?) \| \[.*\]\((.*)\) \|$/gm)].map(
  ([, question = "", link = ""]) => ({
    question,
    link,
  }),
);

test.each(QUESTIONS)("the index answers a question about %s with one click", (asked, answer) => {
  const [row, ...others] = rows.filter(({ question }) => asked.test(question));
  expect(others).toEqual([]);
  expect(sectionAt(row?.link ?? "")).toMatch(answer);
});

test("each question of the index is checked here", () => {
  expect(rows).toHaveLength(QUESTIONS.length);
});

/** The text below the heading that a link names, up to the next heading of the same level. */
function sectionAt(link: string): string {
  const [page = "", anchor] = link.split("#");
  const lines = readFileSync(`docs/${page}`, "utf8").split("\n");
  if (anchor === undefined) return lines.join("\n");
  const slug = (line: string) =>
    line
      .replace(/^#+ /, "")
      .toLowerCase()
      .replaceAll(/[^a-z0-9 -]/g, "")
      .replaceAll(" ", "-");
  const start = lines.findIndex((line) => /^#+ /.test(line) && slug(line) === anchor);
  expect(start, link).not.toBe(-1);
  const level = lines[start]?.indexOf(" ") ?? 1;
  const length = lines.slice(start + 1).findIndex((line) => /^#+ /.test(line) && line.indexOf(" ") <= level);
  return lines.slice(start, length === -1 ? undefined : start + 1 + length).join("\n");
}
