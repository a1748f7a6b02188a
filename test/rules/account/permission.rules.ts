import { test } from "vitest";
import { createOther, SHOP, worldWithProject } from "../../support/rules/rule-worlds.ts";
import { type CommandOf, given } from "../../support/rules/rules.ts";

const grant: CommandOf<"GrantPermission"> = {
  type: "GrantPermission",
  ...SHOP,
  email: "guest@example.com",
};
const revoke: CommandOf<"RevokePermission"> = {
  type: "RevokePermission",
  ...SHOP,
  permissionId: "record-1",
};

test("a project is shared with an address, whether or not an account has it", () => {
  given(worldWithProject())
    .when(grant)
    .then([
      {
        type: "RecordCreated",
        record: { kind: "projectPermission", scope: "shop", fields: { email: "guest@example.com" } },
      },
    ]);
});

test("sharing a project twice with one address is refused, in any letter case", () => {
  given(worldWithProject(), grant)
    .when({ ...grant, email: "GUEST@example.com" })
    .thenRefused("PERMISSION_EXISTS");
});

test("sharing a project with its owner is refused", () => {
  given(worldWithProject())
    .when({ ...grant, email: "owner@example.com" })
    .thenRefused("PERMISSION_EXISTS");
});

test("a project is no longer shared with an address", () => {
  given(worldWithProject(), grant)
    .when(revoke)
    .then([{ type: "RecordDeleted", recordId: "record-1" }]);
});

test("revoking an unknown permission is refused", () => {
  given(worldWithProject()).when(revoke).thenRefused("PERMISSION_NOT_FOUND");
});

test.each([grant, revoke])("$type for a project of another account is refused", (command) => {
  given(worldWithProject(), createOther)
    .when({ ...command, accountId: "other" })
    .thenRefused("PROJECT_NOT_FOUND");
});
