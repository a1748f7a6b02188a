import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { SERVE_OPTION_GROUPS } from "../../src/cli/server/options/serve-options.ts";

const ROOT = join(import.meta.dirname, "../..");
const PAGES = ["tutorials", "how-to", "reference", "explanation"].flatMap((folder) =>
  readdirSync(join(ROOT, "docs", folder))
    .filter((name) => name.endsWith(".md"))
    .map((name) => `docs/${folder}/${name}`),
);

/** Without blocks of code, whose lines may begin with "#". */
const textOf = (page: string) =>
  readFileSync(join(ROOT, page), "utf8").replaceAll(/^ *```[\s\S]*?^ *```$/gm, "");

test.each(PAGES)("%s has no chapter twice", (page) => {
  const chapters: readonly string[] = textOf(page).match(/^## .*$/gm) ?? [];
  expect(chapters.filter((chapter, index) => chapters.indexOf(chapter) !== index)).toEqual([]);
});

test("each option of serve is in its reference", () => {
  const reference = ["serve", "postgres"].map((name) => textOf(`docs/reference/${name}.md`)).join("");
  const names = Object.values(SERVE_OPTION_GROUPS).flatMap((rows) =>
    rows.map(({ flags }) => flags.replace(/ .*/, "")),
  );
  expect(names.length).toBeGreaterThan(40);
  expect(names.filter((name) => !new RegExp(`\`${name}[ \`=]`).test(reference))).toEqual([]);
});
