import { expect, test } from "vitest";
import { isReservedDatabase, isReservedRole } from "../../../../src/platform/catalog/reserved-names.ts";
import {
  isOwnRole,
  OWN_DATABASES,
  PLATFORM_GROUP,
  SUPERUSER,
} from "../../../../src/postgres/engine/engine.ts";

test("the platform reserves the names that each cluster uses", () => {
  for (const name of [SUPERUSER, PLATFORM_GROUP, "pg_monitor"]) {
    expect(isOwnRole(name)).toBe(true);
    expect(isReservedRole(name)).toBe(true);
  }
  for (const name of OWN_DATABASES) expect(isReservedDatabase(name)).toBe(true);
  expect(isOwnRole("neondb_owner")).toBe(false);
  expect(isReservedRole("neondb_owner")).toBe(false);
  expect(isReservedDatabase("neondb")).toBe(false);
});
