import { test } from "vitest";
import { MAIN, worldWithProject } from "../../support/rule-worlds.ts";
import { type CommandOf, given } from "../../support/rules.ts";

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
    .when(learn({ changedPasswords: ["app"], changedOwners: [{ name: "neondb", owner: "app" }] }))
    .then([
      { type: "RolePasswordReset", roleName: "app" },
      { type: "DatabaseUpdated", changes: { ownerName: "app" } },
    ]);
});

test("what the branch has already, or has not, changes nothing", () => {
  given(worldWithProject(), learn({ createdDatabases: [{ name: "shop", owner: "neondb_owner" }] }))
    .when(
      learn({
        createdDatabases: [{ name: "shop", owner: "neondb_owner" }],
        changedPasswords: ["ghost"],
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
