import { expect, test } from "vitest";
import { failureName } from "../../../src/package/failed-test.ts";

test("failures of tests with one name in two files of a deep directory have different names", () => {
  const directory = "packages/services/organizations/billing/source/modules/invoices/__tests__/integration";
  const names = ["monthly", "yearly"].map((file) => failureName(`${directory}/${file}.test.ts`, "is sent"));
  expect(new Set(names).size).toBe(2);
  expect(failureName("../shop.spec.ts", "../../Has a project!")).toBe("shop.has-a-project-");
  for (const name of [...names, failureName("a".repeat(300), "b".repeat(300))])
    expect(name.length).toBeLessThan(200);
});
