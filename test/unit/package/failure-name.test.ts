import { expect, test } from "vitest";
import { failureName } from "../../../src/package/failed-test.ts";

const DEEP = "packages/services/organizations/billing/source/modules/invoices/__tests__/integration";

test("a failure has the names of the file, the suites and the test", () => {
  expect(failureName("test/shop.spec.ts", ["has a project"])).toBe("test-shop.has-a-project");
  expect(failureName("shop.test.ts", ["Orders", "has a project"])).toBe("shop.orders.has-a-project");
});

test("failures of tests whose names a file name does not show completely have different names", () => {
  const tests: readonly (readonly [file: string, ...titles: string[]])[] = [
    ["shop.test.ts", "проект есть"],
    ["shop.test.ts", "проекта нет"],
    ["заказы.test.ts", "проект есть"],
    ["shop.test.ts", "is rejected if a < 1"],
    ["shop.test.ts", "is rejected if a > 1"],
    ["shop.test.ts", "is rejected if a 1"],
    ["shop.test.ts", "orders", "is empty"],
    ["shop.test.ts", "orders is empty"],
    ["shop.test.ts", `${"a".repeat(300)} b`],
    ["shop.test.ts", `${"a".repeat(300)} c`],
    [`${DEEP}/monthly.test.ts`, "is sent"],
    [`${DEEP}/yearly.test.ts`, "is sent"],
    [`other/${DEEP}/yearly.test.ts`, "is sent"],
    ["a".repeat(300), "b".repeat(300)],
  ];
  const names = tests.map(([file, ...titles]) => failureName(file, titles));
  expect(new Set(names).size).toBe(tests.length);
  expect(names[0]).toMatch(/^shop\.[0-9a-f]{8}$/);
  expect(names[3]).toMatch(/^shop\.is-rejected-if-a-1\.[0-9a-f]{8}$/);
  for (const name of names) expect(name).toMatch(/^[a-z0-9.-]{1,200}$/);
  expect(tests.map(([file, ...titles]) => failureName(file, titles))).toEqual(names);
});
