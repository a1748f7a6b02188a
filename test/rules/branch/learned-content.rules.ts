import { test } from "vitest";
import { DEV, MAIN, worldWithBranch, worldWithProject } from "../../support/rules/rule-worlds.ts";
import { type CommandOf, given } from "../../support/rules/rules.ts";

function learn(changes: Partial<CommandOf<"LearnBranchContent">>): CommandOf<"LearnBranchContent"> {
  return {
    type: "LearnBranchContent",
    branchId: "br-main",
    createdRoles: [],
    changedPasswords: [],
    droppedRoles: [],
    createdDatabases: [],
    changedOwners: [],
    droppedDatabases: [],
    ...changes,
  };
}

test("what SQL creates exists on the branch, without operations", () => {
  given(worldWithProject())
    .when(
      learn({
        createdRoles: [
          { name: "app", noLogin: false },
          { name: "readers", noLogin: true },
        ],
        createdDatabases: [{ name: "shop", owner: "app" }],
      }),
    )
    .then([
      { type: "RoleCreated", branchId: "br-main", role: { name: "app", noLogin: undefined } },
      { type: "RoleCreated", role: { name: "readers", noLogin: true } },
      { type: "DatabaseCreated", database: { name: "shop", ownerName: "app" } },
    ]);
});

test("what SQL drops is gone", () => {
  given(worldWithProject(), learn({ createdRoles: [{ name: "app", noLogin: false }] }))
    .when(learn({ droppedRoles: ["app"], droppedDatabases: ["neondb"] }))
    .then([{ type: "DatabaseDeleted" }, { type: "RoleDeleted", roleName: "app" }]);
});

test("a new password has a new secret, and a new owner keeps the database", () => {
  given(worldWithProject(), learn({ createdRoles: [{ name: "app", noLogin: false }] }))
    .when(
      learn({
        changedPasswords: [{ name: "app", noLogin: false }],
        changedOwners: [{ name: "neondb", owner: "app" }],
      }),
    )
    .then([
      { type: "RolePasswordReset", roleName: "app" },
      { type: "DatabaseUpdated", changes: { ownerName: "app" } },
    ]);
});

test("a role can log in, or cannot any more, as SQL has changed it", () => {
  const app = (noLogin: boolean) => learn({ changedPasswords: [{ name: "app", noLogin }] });
  const created = learn({ createdRoles: [{ name: "app", noLogin: false }] });
  given(worldWithProject(), created)
    .when(app(true))
    .then([{ type: "RolePasswordReset", roleName: "app", noLogin: true }]);
  given(worldWithProject(), created, app(true))
    .when(app(true))
    .then([{ type: "RolePasswordReset", roleName: "app", noLogin: undefined }]);
  given(worldWithProject(), created, app(true))
    .when({ type: "ResetRolePassword", ...MAIN, branchId: "br-main", name: "app" })
    .thenRefused("ROLE_HAS_NO_PASSWORD");
  given(worldWithProject(), created, app(true))
    .when(app(false))
    .then([{ type: "RolePasswordReset", roleName: "app", noLogin: false }]);
  given(worldWithProject(), created, app(true), app(false))
    .when({ type: "ResetRolePassword", ...MAIN, branchId: "br-main", name: "app" })
    .thenAccepted();
});

test("what the branch has already, or has not, changes nothing", () => {
  given(worldWithProject(), learn({ createdDatabases: [{ name: "shop", owner: "neondb_owner" }] }))
    .when(
      learn({
        createdDatabases: [{ name: "shop", owner: "neondb_owner" }],
        changedPasswords: [{ name: "ghost", noLogin: false }],
        droppedRoles: ["ghost"],
        droppedDatabases: ["ghost"],
      }),
    )
    .then([]);
});

test("a branch that is gone learns nothing", () => {
  given(worldWithProject())
    .when(learn({ branchId: "br-none" }))
    .thenRefused("BRANCH_NOT_FOUND");
  given(worldWithProject(), { type: "DeleteProject", ...MAIN })
    .when(learn({ droppedDatabases: ["neondb"] }))
    .thenRefused("BRANCH_NOT_FOUND");
});

test("several roles, passwords and databases get numbers of their own", () => {
  given(worldWithProject())
    .when(
      learn({
        createdRoles: [
          { name: "neondb_owner", noLogin: false },
          { name: "ada", noLogin: false },
          { name: "bob", noLogin: false },
        ],
        changedPasswords: [
          { name: "neondb_owner", noLogin: false },
          { name: "unknown", noLogin: true },
        ],
        createdDatabases: [
          { name: "neondb", owner: "ada" },
          { name: "orders", owner: "ada" },
          { name: "sales", owner: "bob" },
        ],
        changedOwners: [{ name: "unknown", owner: "ada" }],
        droppedDatabases: ["unknown"],
        droppedRoles: ["unknown"],
      }),
    )
    .then([
      { type: "RoleCreated", role: { name: "ada", secretId: "role-2" } },
      { type: "RoleCreated", role: { name: "bob", secretId: "role-3" } },
      { type: "RolePasswordReset", roleName: "neondb_owner", secretId: "role-4" },
      { type: "DatabaseCreated", database: { id: 2, name: "orders" } },
      { type: "DatabaseCreated", database: { id: 3, name: "sales" } },
    ]);
});

test("a deleted branch learns nothing", () => {
  given(worldWithBranch(), { type: "DeleteBranch", ...DEV })
    .when(learn({ branchId: "br-dev" }))
    .thenRefused("BRANCH_NOT_FOUND", /br-dev/);
});
