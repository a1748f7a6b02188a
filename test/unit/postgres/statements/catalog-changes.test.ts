import { expect, test } from "vitest";
import { CatalogChanges, mayBeCatalogTag } from "../../../../src/postgres/statements/catalog-changes.ts";

test.each([
  [["SELECT 1", "INSERT 0 1", "CREATE TABLE", "DROP OWNED", "DEALLOCATE"], "none"],
  [["DO"], "perhaps"],
  [["CALL", "CREATE TABLE"], "perhaps"],
  [["DO", "ALTER ROLE", "CALL"], "certain"],
  ...["CREATE ROLE", "ALTER DATABASE", "DROP ROLE", "REASSIGN OWNED"].map(
    (tag) => [[tag], "certain"] as const,
  ),
] as const)("of statements %j, a change of roles or databases is %s", (tags, change) => {
  const changes = new CatalogChanges();
  for (const tag of tags) if (mayBeCatalogTag(tag.charCodeAt(0))) changes.add(tag);
  expect([changes.take(), changes.take()]).toEqual([change, "none"]);
});
