import { test } from "vitest";
import {
  DEV,
  MAIN,
  MAIN_COMPUTE,
  restartMain,
  worldWithBranch,
  worldWithIdleCompute,
  worldWithProject,
} from "../../support/rules/rule-worlds.ts";
import { type CommandOf, given, NOW, queued, running, type Step } from "../../support/rules/rules.ts";

const create: CommandOf<"CreateRole"> = { type: "CreateRole", ...MAIN, name: "ada" };
const remove: CommandOf<"DeleteRole"> = { type: "DeleteRole", ...MAIN, name: "ada" };
const reset: CommandOf<"ResetRolePassword"> = { type: "ResetRolePassword", ...MAIN, name: "ada" };
const branchWithRole: Step = [worldWithBranch(), { ...create, ...DEV }];

test("a new role is applied through the primary compute of its branch", () => {
  given(worldWithProject())
    .when(create)
    .then([
      {
        type: "RoleCreated",
        branchId: "br-main",
        role: { name: "ada", secretId: "role-2", createdAt: NOW },
      },
      running("apply_config", { branchId: "br-main", endpointId: "ep-main" }),
    ]);
});

test("an idle compute is started to apply a new role", () => {
  given(worldWithIdleCompute())
    .when(create)
    .then([
      { type: "RoleCreated" },
      running("start_compute", { endpointId: "ep-main" }),
      queued("apply_config", { endpointId: "ep-main" }),
    ]);
});

test("without a compute that can start, a new role schedules nothing", () => {
  given(worldWithBranch())
    .when({ ...create, ...DEV })
    .then([{ type: "RoleCreated", branchId: "br-dev" }]);
  given(worldWithProject({ compute: { disabled: true } }))
    .when(create)
    .then([{ type: "RoleCreated" }]);
});

test("a role can be created without a login", () => {
  given(worldWithProject())
    .when({ ...create, noLogin: true })
    .then([{ type: "RoleCreated", role: { name: "ada", noLogin: true } }, running("apply_config")]);
});

test("creating a role with a name that is in use is refused", () => {
  given(worldWithProject())
    .when({ ...create, name: "neondb_owner" })
    .thenRefused("ROLE_ALREADY_EXISTS");
});

test.each(["pg_monitor", "postgres", "public", "none", "current_user", "session_user", "cloud_admin"])(
  "creating a role with the reserved name %s is refused",
  (name) => {
    given(worldWithProject())
      .when({ ...create, name })
      .thenRefused("ROLE_NAME_NOT_ALLOWED", /reserved/);
  },
);

test("the name of a role has at most 63 bytes of UTF-8", () => {
  given(worldWithProject())
    .when({ ...create, name: `a${"ä".repeat(31)}` })
    .then([{ type: "RoleCreated" }, running("apply_config")]);
  given(worldWithProject())
    .when({ ...create, name: "ä".repeat(32) })
    .thenRefused("ROLE_NAME_NOT_ALLOWED", /63 bytes/);
});

test("a role is deleted", () => {
  given(branchWithRole)
    .when({ ...remove, ...DEV })
    .then([{ type: "RoleDeleted", branchId: "br-dev", roleName: "ada" }]);
});

test("deleting a role that owns a database is refused", () => {
  given(worldWithProject())
    .when({ ...remove, name: "neondb_owner" })
    .thenRefused("ROLE_OWNS_DATABASE", /"neondb"/);
});

test("a reset password gets a new secret", () => {
  given(branchWithRole)
    .when({ ...reset, ...DEV })
    .then([{ type: "RolePasswordReset", branchId: "br-dev", roleName: "ada", secretId: "role-3" }]);
});

test("resetting the password of a role without a login is refused", () => {
  given(worldWithBranch(), { ...create, ...DEV, noLogin: true })
    .when({ ...reset, ...DEV })
    .thenRefused("ROLE_HAS_NO_PASSWORD");
});

test.each([remove, reset])("$type for an unknown role is refused", (command) => {
  given(worldWithProject()).when(command).thenRefused("ROLE_NOT_FOUND");
});

test.each([create, { ...remove, name: "neondb_auth" }, { ...reset, name: "neondb_owner" }])(
  "$type in a busy project is refused",
  (command) => {
    given(worldWithIdleCompute({ branch: { id: "br-main", roleName: "neondb_owner" } }), {
      ...create,
      name: "neondb_auth",
    })
      .when(command)
      .thenRefused("OPERATIONS_IN_PROGRESS");
  },
);

test.each([create, remove, reset])("$type on an unknown branch is refused", (command) => {
  given(worldWithProject())
    .when({ ...command, ...DEV })
    .thenRefused("BRANCH_NOT_FOUND");
});

test("a deleted compute applies nothing", () => {
  given(worldWithProject(), restartMain, { type: "DeleteCompute", ...MAIN_COMPUTE })
    .when(create)
    .then([{ type: "RoleCreated" }]);
});
