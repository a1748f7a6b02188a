import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { serveCommand } from "../../../src/cli/commands/serve.ts";

const SERVE_PAGE = readFileSync("docs/reference/serve.md", "utf8");
const POSTGRES_PAGE = readFileSync("docs/reference/postgres.md", "utf8");
const OPTIONS = serveCommand().options;

/** The cells of each row of an option with a variable, by its flags: `--port <n>`. Those of other commands have none. */
const ROWS = new Map(
  [...`${SERVE_PAGE}\n${POSTGRES_PAGE}`.matchAll(/^\| `(--[^`]+)` \| (`STANDIN_.*) \|$/gm)].map(
    ([, flags = "", cells = ""]) => [flags, cells.split(" | ")],
  ),
);

test.each(OPTIONS.map((option) => [option.flags, option] as const))(
  "the page of standin serve names %s, with its variable and its default",
  (flags, option) => {
    expect(SERVE_PAGE).toMatch(new RegExp(`\`${option.long}[ \`]`));
    const [variable, defaultText] = ROWS.get(flags) ?? [];
    expect(variable).toBe(`\`STANDIN_${option.name().toUpperCase().replaceAll("-", "_")}\``);
    if (option.defaultValue !== undefined)
      expect(defaultText?.replaceAll("`", "")).toBe(
        option.defaultValueDescription ?? String(option.defaultValue),
      );
  },
);

test("the page of standin serve has a row for no other option", () => {
  expect([...ROWS.keys()].sort()).toEqual(OPTIONS.map(({ flags }) => flags).sort());
});
