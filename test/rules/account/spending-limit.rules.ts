import { test } from "vitest";
import { ORGANIZATION, worldWithAccount } from "../../support/rules/rule-worlds.ts";
import { type CommandOf, given } from "../../support/rules/rules.ts";

const setLimit: CommandOf<"SetSpendingLimit"> = {
  type: "SetSpendingLimit",
  organizationId: ORGANIZATION,
  cents: 5_000,
};
const clearLimit: CommandOf<"ClearSpendingLimit"> = {
  type: "ClearSpendingLimit",
  organizationId: ORGANIZATION,
};

test("an organization sets its spending limit", () => {
  given(worldWithAccount())
    .when(setLimit)
    .then([
      {
        type: "RecordCreated",
        record: { kind: "spendingLimit", scope: ORGANIZATION, fields: { cents: 5_000 } },
      },
    ]);
});

test("setting a spending limit again changes it", () => {
  given(worldWithAccount(), setLimit)
    .when({ ...setLimit, cents: 100 })
    .then([{ type: "RecordUpdated", recordId: "record-1", fields: { cents: 100 } }]);
});

test("an organization clears its spending limit", () => {
  given(worldWithAccount(), setLimit)
    .when(clearLimit)
    .then([{ type: "RecordDeleted", recordId: "record-1" }]);
});

test("clearing a spending limit that is not set does nothing", () => {
  given(worldWithAccount()).when(clearLimit).then([]);
});

test.each([setLimit, clearLimit])("$type is refused on the free plan", (command) => {
  given(worldWithAccount({ plan: "free" }))
    .when(command)
    .thenRefused("PLAN_LIMIT_EXCEEDED");
});

test.each([setLimit, clearLimit])("$type in an unknown organization is refused", (command) => {
  given(worldWithAccount())
    .when({ ...command, organizationId: "org-unknown" })
    .thenRefused("ORGANIZATION_NOT_FOUND");
});
