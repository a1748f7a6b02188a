import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { replacedFiles } from "../../../../src/postgres/rights/extension-files.ts";
import { testDirectory } from "../../../support/server/running-server.ts";

/** The directory of extensions of an installation with these files. */
function installed(files: Record<string, string>): string {
  const directory = testDirectory();
  for (const [name, text] of Object.entries(files)) writeFileSync(join(directory, name), text);
  return directory;
}

test("an extension of a package becomes trusted, and its scripts check the schema first", () => {
  const { files, isHidden } = replacedFiles(
    17,
    installed({
      "hll.control": "default_version = '2.18'\nrelocatable = true\n",
      "hll--2.18.sql": "CREATE FUNCTION hll_in(cstring) RETURNS hll; SELECT 'x'::hll;",
      "hll--2.17--2.18.sql": "ALTER FUNCTION hll_in(cstring) PARALLEL SAFE;",
    }),
  );
  expect(files.get("hll.control")).toBe("default_version = '2.18'\nrelocatable = true\n\ntrusted = true\n");
  for (const name of ["hll--2.18.sql", "hll--2.17--2.18.sql"])
    expect(files.get(name)).toMatch(/^DO \$standin\$/);
  expect(files.get("hll--2.18.sql")).toContain(
    "typname OPERATOR(pg_catalog.=) ANY ('{hll}'::pg_catalog.name[])",
  );
  expect(files.get("hll--2.18.sql")).toMatch(
    /CREATE FUNCTION hll_in\(cstring\) RETURNS hll; SELECT 'x'::hll;$/,
  );
  expect(isHidden("hll--2.18.sql")).toBe(true);
});

test("an extension that is trusted already, or is not published, keeps its files", () => {
  const { files, isHidden } = replacedFiles(
    17,
    installed({
      "vector.control": "default_version = '0.8.0'\ntrusted = true\n",
      "vector--0.8.0.sql": "",
      "file_fdw.control": "default_version = '1.0'\n",
      "file_fdw--1.0.sql": "",
    }),
  );
  for (const name of ["vector.control", "vector--0.8.0.sql", "file_fdw.control", "file_fdw--1.0.sql"])
    expect([name, files.has(name), isHidden(name)]).toEqual([name, false, false]);
});

test("no script of a refused extension stays, and one that is missing names its package", () => {
  const { files, isHidden } = replacedFiles(
    16,
    installed({
      "dblink.control": "default_version = '1.2'\n",
      "dblink--1.2.sql": "CREATE FUNCTION dblink();",
    }),
  );
  expect(isHidden("dblink--1.2.sql")).toBe(true);
  expect([...files.keys()].filter((name) => name.startsWith("dblink"))).toEqual([
    "dblink.control",
    "dblink--0.sql",
  ]);
  expect(files.get("vector--0.sql")).toContain("the Debian package postgresql-16-pgvector brings it");
  expect(files.get("bloom--0.sql")).toContain("postgresql-16 or postgresql-contrib");
});

test("a foreign data wrapper whose script has another form is granted to nobody", () => {
  const own = {
    "postgres_fdw.control": "default_version = '1.0'\n",
    "postgres_fdw--1.0.sql":
      "CREATE FOREIGN DATA WRAPPER postgres_fdw\n  HANDLER postgres_fdw_handler\n  VALIDATOR postgres_fdw_validator;",
  };
  const known = replacedFiles(17, installed(own)).files.get("postgres_fdw--1.0.sql");
  expect(known).toContain("VALIDATOR postgres_fdw_network_validator;");
  expect(known).toContain("GRANT USAGE ON FOREIGN DATA WRAPPER");
  const other = replacedFiles(
    17,
    installed({
      ...own,
      "postgres_fdw--1.0.sql": "CREATE FOREIGN DATA WRAPPER postgres_fdw HANDLER h VALIDATOR v;",
    }),
  ).files.get("postgres_fdw--1.0.sql");
  expect(other).not.toContain("GRANT");
});
