import { expect, test } from "vitest";
import {
  createOther,
  ORGANIZATION,
  SHOP,
  worldWithAccount,
  worldWithProject,
} from "../../support/rules/rule-worlds.ts";
import { given, NOW } from "../../support/rules/rules.ts";

test("a new account gets an id, an address, the plan of the world and an organization of its own", () => {
  given(worldWithAccount({ plan: "free" }))
    .when({ type: "CreateAccount", name: "Ada" })
    .then([
      {
        type: "AccountCreated",
        account: {
          id: "account-2",
          number: 2,
          name: "Ada",
          email: "account-2@standin.example",
          plan: "free",
          organizationId: expect.stringMatching(/^org-[0-9a-f]{12}-2$/),
          createdAt: NOW,
        },
      },
    ]);
});

test("an account can be created with an id, an address and a plan", () => {
  given(worldWithAccount())
    .when({ ...createOther, plan: "free" })
    .then([
      {
        type: "AccountCreated",
        account: { id: "other", email: "other@example.com", plan: "free", organizationId: "org-other-2" },
      },
    ]);
});

test("creating an account with an id that is in use is refused", () => {
  given(worldWithAccount())
    .when({ type: "CreateAccount", id: "owner", name: "Second" })
    .thenRefused("ID_EXISTS", /"owner"/);
});

test("the organization of an account is named after the letters and digits of its id, at most twelve", () => {
  given(worldWithAccount())
    .when({ type: "CreateAccount", id: "team_a-2026-production", name: "Team" })
    .then([{ type: "AccountCreated", account: { organizationId: "org-teama2026pro-2" } }]);
});

test("an account changes its plan", () => {
  given(worldWithProject())
    .when({ type: "ChangePlan", accountId: "owner", plan: "free" })
    .then([{ type: "AccountPlanChanged", accountId: "owner", plan: "free" }]);
});

test("an account changes from the free plan to the paid one, with its computes", () => {
  given(worldWithProject({}, { plan: "free" }))
    .when({ type: "ChangePlan", accountId: "owner", plan: "paid" })
    .then([{ type: "AccountPlanChanged", accountId: "owner", plan: "paid" }]);
});

test("a changed plan leaves the rest of the account as it was", () => {
  const account = given(worldWithAccount(), { type: "ChangePlan", accountId: "owner", plan: "free" }).asking(
    (world) => world.accounts.get("owner"),
  );
  expect(account).toMatchObject({ id: "owner", name: "Owner", organizationId: ORGANIZATION, plan: "free" });
});

test("the computes of another account do not prevent a change of the plan", () => {
  given(worldWithProject({ compute: { maxCu: 0.5 } }), createOther)
    .when({ type: "ChangePlan", accountId: "other", plan: "free" })
    .then([{ type: "AccountPlanChanged", accountId: "other", plan: "free" }]);
});

test("changing to the plan that an account has does nothing", () => {
  given(worldWithProject()).when({ type: "ChangePlan", accountId: "owner", plan: "paid" }).then([]);
});

test("changing the plan of an unknown account is refused", () => {
  given(worldWithAccount())
    .when({ type: "ChangePlan", accountId: "nobody", plan: "free" })
    .thenRefused("ACCOUNT_NOT_FOUND");
});

test("changing to the free plan is refused while a compute has another size than 0.25 CU", () => {
  given(worldWithProject({ compute: { maxCu: 0.5 } }))
    .when({ type: "ChangePlan", accountId: "owner", plan: "free" })
    .thenRefused("PLAN_LIMIT_EXCEEDED", /^the size of ep-main, 0\.25 to 0\.5 CU, is not/);
});

test("changing to the free plan is refused while there is a read replica", () => {
  given(worldWithProject(), {
    type: "CreateCompute",
    ...SHOP,
    id: "ep-replica",
    branchId: "br-main",
    computeType: "read_only",
    options: {},
  })
    .when({ type: "ChangePlan", accountId: "owner", plan: "free" })
    .thenRefused("PLAN_LIMIT_EXCEEDED", /^the read replica ep-replica is not/);
});
