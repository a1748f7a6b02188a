import { test } from "vitest";
import {
  createOther,
  DEV,
  SHOP,
  worldWithBranch,
  worldWithProject,
} from "../../support/rules/rule-worlds.ts";
import { type CommandOf, given } from "../../support/rules/rules.ts";

const add: CommandOf<"AddJwks"> = {
  type: "AddJwks",
  ...SHOP,
  jwksUrl: "https://example.com/jwks.json",
  providerName: "example",
};
const remove: CommandOf<"DeleteJwks"> = { type: "DeleteJwks", ...SHOP, jwksId: "record-1" };

test("a key set is for all branches and the default roles unless it names them", () => {
  given(worldWithProject())
    .when(add)
    .then([
      {
        type: "RecordCreated",
        record: {
          kind: "jwks",
          scope: "shop",
          fields: {
            jwksUrl: "https://example.com/jwks.json",
            providerName: "example",
            roleNames: ["authenticator", "authenticated", "anonymous"],
          },
        },
      },
    ]);
});

test("a key set can name a branch, an audience and roles that do not exist yet", () => {
  given(worldWithProject())
    .when({ ...add, branchId: "br-main", jwtAudience: "shop", roleNames: ["visitor"] })
    .then([
      {
        type: "RecordCreated",
        record: { fields: { branchId: "br-main", jwtAudience: "shop", roleNames: ["visitor"] } },
      },
    ]);
});

test("without role creation, the roles of a key set have to exist", () => {
  given(worldWithProject())
    .when({ ...add, roleNames: ["neondb_owner"], skipRoleCreation: true })
    .then([{ type: "RecordCreated", record: { fields: { roleNames: ["neondb_owner"] } } }]);
  given(worldWithProject())
    .when({ ...add, roleNames: ["neondb_owner", "visitor"], skipRoleCreation: true })
    .thenRefused("ROLE_NOT_FOUND", /role_names\.1/);
});

test("a key set with a reserved role name is refused", () => {
  given(worldWithProject())
    .when({ ...add, roleNames: ["pg_visitor"] })
    .thenRefused("ROLE_NAME_NOT_ALLOWED", /role_names\.0/);
});

test("a key set for an unknown branch is refused", () => {
  given(worldWithProject())
    .when({ ...add, branchId: "br-unknown" })
    .thenRefused("BRANCH_NOT_FOUND");
});

test("a key set is deleted", () => {
  given(worldWithProject(), add)
    .when(remove)
    .then([{ type: "RecordDeleted", recordId: "record-1" }]);
});

test("deleting an unknown key set is refused", () => {
  given(worldWithProject()).when(remove).thenRefused("JWKS_NOT_FOUND");
});

test.each([add, remove])("$type for a project of another account is refused", (command) => {
  given(worldWithProject(), createOther)
    .when({ ...command, accountId: "other" })
    .thenRefused("PROJECT_NOT_FOUND");
});

test("a role that is not to be created must exist on the branch, or on one of all branches", () => {
  const named = { ...add, roleNames: ["ada"], skipRoleCreation: true } as const;
  const createAda = { type: "CreateRole", ...DEV, name: "ada" } as const;
  given(worldWithBranch(), createAda)
    .when(named)
    .then([{ type: "RecordCreated" }]);
  given(worldWithBranch(), createAda)
    .when({ ...named, branchId: "br-dev" })
    .then([{ type: "RecordCreated" }]);
  given(worldWithBranch(), createAda)
    .when({ ...named, branchId: "br-main" })
    .thenRefused("ROLE_NOT_FOUND", /^role_names\.0: role "ada" not found/);
  given(worldWithBranch(), createAda)
    .when({ ...named, roleNames: ["ada", "bob"] })
    .thenRefused("ROLE_NOT_FOUND", /^role_names\.1: role "bob" not found/);
});

test("a role that will be created needs an allowed name", () => {
  given(worldWithProject())
    .when({ ...add, roleNames: ["pg_reader"] })
    .thenRefused("ROLE_NAME_NOT_ALLOWED", /^role_names\.0/);
});
