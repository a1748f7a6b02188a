import { test } from "vitest";
import {
  createDev,
  createOther,
  DEV,
  MAIN,
  restartMain,
  SHOP,
  worldWithBranch,
  worldWithProject,
} from "../../support/rules/rule-worlds.ts";
import { type CommandOf, DAY, given, NOW, type Step } from "../../support/rules/rules.ts";

const update: CommandOf<"UpdateBranch"> = { type: "UpdateBranch", ...DEV };
const setDefault: CommandOf<"SetDefaultBranch"> = { type: "SetDefaultBranch", ...DEV };
const expiringBranch: Step = worldWithBranch({ expiresAt: NOW + DAY });

test("a branch is renamed and protected", () => {
  given(worldWithBranch())
    .when({ ...update, name: "staging", protected: true })
    .then([{ type: "BranchUpdated", branchId: "br-dev", changes: { name: "staging", protected: true } }]);
});

test("a branch of a busy project can be renamed", () => {
  given(worldWithBranch(), restartMain)
    .when({ ...update, name: "staging" })
    .then([{ type: "BranchUpdated", changes: { name: "staging" } }]);
});

test("a branch may be renamed to its own name, but not to that of another", () => {
  given(worldWithBranch())
    .when({ ...update, name: "dev" })
    .then([{ type: "BranchUpdated" }]);
  given(worldWithBranch())
    .when({ ...update, name: "main" })
    .thenRefused("BRANCH_ALREADY_EXISTS");
});

test("a branch gets an expiration within 30 days", () => {
  given(worldWithBranch())
    .when({ ...update, expiresAt: NOW + 30 * DAY })
    .then([
      { type: "BranchUpdated", changes: {} },
      { type: "BranchExpirationSet", branchId: "br-dev", expiresAt: NOW + 30 * DAY },
    ]);
  given(worldWithBranch())
    .when({ ...update, expiresAt: NOW + 30 * DAY + 1 })
    .thenRefused("BRANCH_EXPIRATION_NOT_ALLOWED");
  given(worldWithBranch())
    .when({ ...update, expiresAt: NOW })
    .thenRefused("BRANCH_EXPIRATION_NOT_ALLOWED");
});

test("an expiration is ended", () => {
  given(expiringBranch)
    .when({ ...update, expiresAt: null })
    .then([
      { type: "BranchUpdated" },
      { type: "BranchExpirationSet", branchId: "br-dev", expiresAt: undefined },
    ]);
});

test("repeating an expiration, exactly or in whole seconds, does not set it again", () => {
  const expiresAt = NOW + DAY + 250;
  for (const repeated of [expiresAt, NOW + DAY])
    given(worldWithBranch({ expiresAt }))
      .when({ ...update, expiresAt: repeated })
      .then([{ type: "BranchUpdated", changes: {} }]);
  given(worldWithBranch({ expiresAt }))
    .when({ ...update, expiresAt: expiresAt - 1 })
    .then([{ type: "BranchUpdated" }, { type: "BranchExpirationSet", expiresAt: expiresAt - 1 }]);
  given(worldWithBranch())
    .when({ ...update, expiresAt: null })
    .then([{ type: "BranchUpdated", changes: {} }]);
});

test("the default branch, a protected one and one with children cannot expire", () => {
  const expire = { ...update, expiresAt: NOW + DAY };
  given(worldWithProject())
    .when({ ...expire, ...MAIN })
    .thenRefused("BRANCH_EXPIRATION_NOT_ALLOWED", /default/);
  given(worldWithBranch({ protected: true }))
    .when(expire)
    .thenRefused("BRANCH_EXPIRATION_NOT_ALLOWED", /protected/);
  given(worldWithBranch(), { ...createDev, id: "br-test", name: "test", parentId: "br-dev" })
    .when(expire)
    .thenRefused("BRANCH_EXPIRATION_NOT_ALLOWED", /child branches/);
});

test("a branch with an expiration is protected only together with its end", () => {
  given(expiringBranch)
    .when({ ...update, protected: true })
    .thenRefused("BRANCH_EXPIRATION_NOT_ALLOWED");
  given(expiringBranch)
    .when({ ...update, protected: true, expiresAt: null })
    .then([{ type: "BranchUpdated", changes: { protected: true } }, { type: "BranchExpirationSet" }]);
});

test("another branch becomes the default; nothing is scheduled", () => {
  given(worldWithBranch(), restartMain)
    .when(setDefault)
    .then([{ type: "BranchSetAsDefault", projectId: "shop", branchId: "br-dev" }]);
});

test("making the default branch the default does nothing", () => {
  given(worldWithProject())
    .when({ ...setDefault, ...MAIN })
    .then([]);
});

test("a branch with an expiration cannot be the default", () => {
  given(expiringBranch).when(setDefault).thenRefused("BRANCH_EXPIRATION_NOT_ALLOWED");
});

test.each([update, setDefault])("$type for an unknown branch is refused", (command) => {
  given(worldWithProject()).when(command).thenRefused("BRANCH_NOT_FOUND");
  given(worldWithProject(), createOther)
    .when({ ...command, ...SHOP, accountId: "other" })
    .thenRefused("PROJECT_NOT_FOUND");
});
