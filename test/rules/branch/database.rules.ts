import { test } from "vitest";
import { DEV, MAIN, restartMain, worldWithProject } from "../../support/rules/rule-worlds.ts";
import { after, type CommandOf, given, HOUR, NOW, running, type Step } from "../../support/rules/rules.ts";

const create: CommandOf<"CreateDatabase"> = {
  type: "CreateDatabase",
  ...MAIN,
  name: "orders",
  ownerName: "neondb_owner",
};
const update: CommandOf<"UpdateDatabase"> = { type: "UpdateDatabase", ...MAIN, name: "neondb" };
const remove: CommandOf<"DeleteDatabase"> = { type: "DeleteDatabase", ...MAIN, name: "neondb" };
const branchWithRole: Step = [worldWithProject(), { type: "CreateRole", ...MAIN, name: "ada" }, after(HOUR)];

test("a new database is applied through the primary compute of its branch", () => {
  given(worldWithProject())
    .when(create)
    .then([
      {
        type: "DatabaseCreated",
        branchId: "br-main",
        database: { id: 2, name: "orders", ownerName: "neondb_owner", createdAt: NOW },
      },
      running("apply_config", { endpointId: "ep-main" }),
    ]);
});

test("creating a database with a name that is in use is refused", () => {
  given(worldWithProject())
    .when({ ...create, name: "neondb" })
    .thenRefused("DATABASE_ALREADY_EXISTS");
});

test.each(["postgres", "template0", "template1"])("a database cannot be named %s", (name) => {
  given(worldWithProject())
    .when({ ...create, name })
    .thenRefused("DATABASE_NAME_NOT_ALLOWED");
  given(worldWithProject())
    .when({ ...update, newName: name })
    .thenRefused("DATABASE_NAME_NOT_ALLOWED");
});

test("creating a database for an unknown owner is refused", () => {
  given(worldWithProject())
    .when({ ...create, ownerName: "ada" })
    .thenRefused("ROLE_NOT_FOUND");
});

test("a database gets another name and another owner", () => {
  given(branchWithRole)
    .when({ ...update, newName: "archive", ownerName: "ada" })
    .then([
      {
        type: "DatabaseUpdated",
        branchId: "br-main",
        databaseId: 1,
        changes: { name: "archive", ownerName: "ada" },
      },
      running("apply_config"),
    ]);
});

test("a database may be renamed to its own name, but not to that of another", () => {
  given(worldWithProject())
    .when({ ...update, newName: "neondb" })
    .then([{ type: "DatabaseUpdated" }, running("apply_config")]);
  given(worldWithProject(), create, after(HOUR))
    .when({ ...update, newName: "orders" })
    .thenRefused("DATABASE_ALREADY_EXISTS");
});

test("giving a database to an unknown owner is refused", () => {
  given(worldWithProject())
    .when({ ...update, ownerName: "ada" })
    .thenRefused("ROLE_NOT_FOUND");
});

test("a database is deleted", () => {
  given(worldWithProject())
    .when(remove)
    .then([
      { type: "DatabaseDeleted", branchId: "br-main", databaseId: 1 },
      running("apply_config", { endpointId: "ep-main" }),
    ]);
});

test.each([update, remove])("$type for an unknown database is refused", (command) => {
  given(worldWithProject())
    .when({ ...command, name: "unknown" })
    .thenRefused("DATABASE_NOT_FOUND");
});

test.each([create, update, remove])("$type in a busy project is refused", (command) => {
  given(worldWithProject(), restartMain).when(command).thenRefused("OPERATIONS_IN_PROGRESS");
});

test.each([create, update, remove])("$type on an unknown branch is refused", (command) => {
  given(worldWithProject())
    .when({ ...command, ...DEV })
    .thenRefused("BRANCH_NOT_FOUND");
});
