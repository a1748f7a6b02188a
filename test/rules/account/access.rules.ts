import { describe, expect, test } from "vitest";
import type { MemberRole } from "../../../src/platform/model/settings-record.ts";
import {
  authorize,
  canRead,
  type Permission,
  type Principal,
  sharedProjects,
} from "../../../src/platform/rules/account/access.ts";
import { membersOf, organizationsOf } from "../../../src/platform/rules/account/organization.ts";
import type { World } from "../../../src/platform/world/world.ts";
import { ORGANIZATION, OWNER_MEMBER, SHOP, worldWithProject } from "../../support/rules/rule-worlds.ts";
import { given, NOW, type Step } from "../../support/rules/rules.ts";

// "owner" has the projects "shop" and "blog". Each other account is named by its role, or by what was shared.

const join = (id: string, role?: MemberRole): Step => [
  { type: "CreateAccount", id, name: id, email: `${id}@example.com` },
  role === undefined
    ? []
    : {
        type: "InviteMembers",
        organizationId: ORGANIZATION,
        invitedBy: "owner",
        invitations: [{ email: `${id}@example.com`, role }],
      },
];
const share = (email: string, projectId = "shop"): Step => ({
  type: "GrantPermission",
  accountId: "owner",
  projectId,
  email,
});
const accounts: Step = [
  worldWithProject(),
  { type: "CreateProject", accountId: "owner", id: "blog" },
  ...(["admin", "member", "editor", "viewer", "collaborator"] as const).map((role) => join(role, role)),
  join("guest"),
  share("Guest@example.com"),
  join("stranger"),
  join("guest viewer", "viewer"),
  share("guest viewer@example.com"),
];

const KEYS: Readonly<Record<string, Principal["scope"]>> = {
  "key of the organization": { organizationId: ORGANIZATION },
  "key of the project": { organizationId: ORGANIZATION, projectId: "shop" },
  "key of another project": { organizationId: ORGANIZATION, projectId: "blog" },
};

function principal(world: World, name: string): Principal {
  const scope = KEYS[name];
  const account = world.accounts.get(scope === undefined ? name : "owner");
  if (account === undefined) throw new Error(`there is no account ${name}`);
  return scope === undefined ? { account } : { account, scope };
}

/** The permissions that a caller has, and on whose behalf it acts; otherwise the codes of the refusals. */
function permissionsOf(caller: string, target: Parameters<typeof authorize>[3]): string {
  return given(accounts).asking((world) => {
    const answers = new Map<string, string[]>();
    for (const permission of ["read", "write", "view", "create", "admin"] satisfies Permission[]) {
      const answer = authorize(world, principal(world, caller), permission, target);
      const text = answer.ok ? `as ${answer.value.id}` : answer.refusal.code;
      answers.set(text, [...(answers.get(text) ?? []), permission]);
    }
    return [...answers].map(([answer, permissions]) => `${permissions.join(" ")}: ${answer}`).join(", ");
  });
}

const ALL = "read write view create admin";

test.each([
  ["owner", `${ALL}: as owner`],
  ["admin", `${ALL}: as owner`],
  ["member", "read write view create: as owner, admin: ACCESS_DENIED"],
  ["editor", "read write view create: as owner, admin: ACCESS_DENIED"],
  ["viewer", "read view: as owner, write create admin: ACCESS_DENIED"],
  ["collaborator", `${ALL}: PROJECT_NOT_FOUND`],
  ["guest", "read write: as owner, view create admin: ACCESS_DENIED"],
  ["guest viewer", "read write: as owner, view create admin: ACCESS_DENIED"],
  ["stranger", `${ALL}: PROJECT_NOT_FOUND`],
  ["key of the organization", `${ALL}: as owner`],
  ["key of the project", "read write: as owner, view create admin: ACCESS_DENIED"],
  ["key of another project", `${ALL}: PROJECT_NOT_FOUND`],
])("in a project, the caller %s may: %s", (caller, expected) => {
  expect(permissionsOf(caller, { projectId: "shop", organizationId: ORGANIZATION })).toBe(expected);
});

test.each([
  ["owner", `${ALL}: as owner`],
  ["admin", `${ALL}: as owner`],
  ["member", "read write view create: as owner, admin: ACCESS_DENIED"],
  ["viewer", "read view: as owner, write create admin: ACCESS_DENIED"],
  ["collaborator", "read view: as owner, write create admin: ACCESS_DENIED"],
  ["guest", `${ALL}: ORGANIZATION_NOT_FOUND`],
  ["stranger", `${ALL}: ORGANIZATION_NOT_FOUND`],
  ["key of the organization", `${ALL}: as owner`],
  ["key of the project", "read write: as owner, view create admin: ACCESS_DENIED"],
])("in an organization, the caller %s may: %s", (caller, expected) => {
  expect(permissionsOf(caller, { organizationId: ORGANIZATION })).toBe(expected);
});

test.each([
  ["stranger", `${ALL}: as stranger`],
  ["key of the organization", `${ALL}: as owner`],
  ["key of the project", "read write: as owner, view create admin: ACCESS_DENIED"],
])("without a project or an organization, the caller %s may: %s", (caller, expected) => {
  expect(permissionsOf(caller, {})).toBe(expected);
});

test("a project or organization that does not exist is reported by the operation, or not found", () => {
  expect(permissionsOf("stranger", { projectId: "unknown" })).toBe(`${ALL}: as stranger`);
  expect(permissionsOf("owner", { organizationId: "org-unknown" })).toBe(`${ALL}: ORGANIZATION_NOT_FOUND`);
});

test("a key of an organization is no member of others", () => {
  const answer = given(accounts).asking((world) => {
    const account = world.accounts.get("admin");
    if (account === undefined) throw new Error("there is no admin");
    const scope = { organizationId: account.organizationId };
    return [
      authorize(world, { account, scope }, "read", { organizationId: ORGANIZATION }),
      authorize(world, { account, scope }, "read", SHOP),
    ];
  });
  expect(answer).toMatchObject([
    { refusal: { code: "ORGANIZATION_NOT_FOUND", message: `organization "${ORGANIZATION}" not found` } },
    { refusal: { code: "PROJECT_NOT_FOUND", message: "project not found" } },
  ]);
});

test("an operation of a person accepts no key of an organization", () => {
  const answers = given(accounts).asking((world) =>
    ["stranger", "key of the organization"].map((caller) =>
      authorize(world, principal(world, caller), "person", SHOP),
    ),
  );
  expect(answers).toMatchObject([
    { ok: true, value: { id: "stranger" } },
    {
      refusal: {
        code: "ACCESS_DENIED",
        message: "this operation needs the API key of a person, not of an organization",
      },
    },
  ]);
});

test("a claim of a project needs no access to it, but create in the organization that receives it", () => {
  const answers = given(accounts).asking((world) =>
    [
      ["stranger", {}],
      ["member", { organizationId: ORGANIZATION }],
      ["viewer", { organizationId: ORGANIZATION }],
    ].map(([caller, target]) =>
      authorize(world, principal(world, caller as string), "claim", {
        projectId: "shop",
        ...(target as object),
      }),
    ),
  );
  expect(answers).toMatchObject([
    { ok: true, value: { id: "stranger" } },
    { ok: true, value: { id: "owner" } },
    {
      refusal: {
        code: "ACCESS_DENIED",
        message: "a viewer is not allowed to add projects or members",
      },
    },
  ]);
});

test.each<[string, Permission, string]>([
  [
    "key of the project",
    "view",
    "a caller with access to single projects only is not allowed to see the organization",
  ],
  ["member", "admin", "a member is not allowed to act as an admin of the organization"],
  ["viewer", "write", "a viewer is not allowed to change what is in a project"],
  ["collaborator", "write", "a collaborator is not allowed to change what is in a project"],
])("the refusal of %s to %s says: %s", (caller, permission, message) => {
  const target = { organizationId: ORGANIZATION };
  const answer = given(accounts).asking((world) =>
    authorize(world, principal(world, caller), permission, target),
  );
  expect(answer).toMatchObject({ ok: false, refusal: { message } });
});

describe("lists", () => {
  test.each([
    ["owner", ["shop", "blog"]],
    ["member", ["shop", "blog"]],
    ["viewer", ["shop", "blog"]],
    ["guest", ["shop"]],
    ["guest viewer", ["shop", "blog"]],
    ["collaborator", []],
    ["stranger", []],
    ["key of the organization", ["shop", "blog"]],
    ["key of the project", ["shop"]],
  ])("show %s the projects %j", (caller, expected) => {
    const seen = given(accounts).asking((world) =>
      world.projects
        .toArray()
        .filter((project) => canRead(world, principal(world, caller), project))
        .map(({ id }) => id),
    );
    expect(seen).toEqual(expected);
  });

  test("a key of an organization sees no projects of others", () => {
    const scope = { organizationId: "org-of-guest" };
    const seen = given(accounts).asking((world) => {
      const { account } = principal(world, "guest");
      return world.projects.toArray().filter((project) => canRead(world, { account, scope }, project));
    });
    expect(seen).toEqual([]);
  });

  test("projects that others share with a person are listed oldest first, without deleted ones", () => {
    const shared = (past: Step, caller: string) =>
      given(past).asking((world) => sharedProjects(world, principal(world, caller)).map(({ id }) => id));
    const both: Step = [accounts, share("guest@example.com", "blog")];
    expect(shared(both, "guest")).toEqual(["shop", "blog"]);
    expect(
      shared([accounts, share("viewer@example.com", "blog"), share("viewer@example.com")], "viewer"),
    ).toEqual(["shop", "blog"]);
    expect(shared(accounts, "member")).toEqual([]);
    expect(shared(accounts, "key of the project")).toEqual([]);
    const transferred: Step = {
      type: "TransferProjects",
      accountId: "owner",
      toAccountId: "guest",
      projectIds: ["blog"],
    };
    expect(shared([afterAnHour(both), transferred], "guest")).toEqual(["shop"]);
    expect(shared([afterAnHour(both), { type: "DeleteProject", ...SHOP }], "guest")).toEqual(["blog"]);
  });

  test("the members of an organization begin with its owner", () => {
    const members = given(worldWithProject(), join("viewer", "viewer"), join("admin", "admin")).asking(
      (world) => {
        const { account } = principal(world, "owner");
        return membersOf(world, account).map(({ id, account, role, organizationId, joinedAt }) => [
          id,
          account.id,
          role,
          organizationId,
          joinedAt,
        ]);
      },
    );
    expect(members).toEqual([
      [OWNER_MEMBER, "owner", "admin", ORGANIZATION, NOW - 10_000],
      ["record-2", "viewer", "viewer", ORGANIZATION, NOW],
      ["record-4", "admin", "admin", ORGANIZATION, NOW],
    ]);
  });

  test("the organizations of a person begin with its own, then in the order of joining", () => {
    const joinFirst: Step = [
      worldWithProject(),
      join("other"),
      join("person", "viewer"),
      {
        type: "InviteMembers",
        organizationId: "org-other-2",
        invitedBy: "other",
        invitations: [{ email: "person@example.com", role: "admin" }],
      },
      share("person@example.com"),
    ];
    const organizations = given(joinFirst).asking((world) =>
      organizationsOf(world, principal(world, "person").account).map(({ id }) => id),
    );
    expect(organizations).toEqual(["person", "owner", "other"]);
  });
});

/** Nothing in the world runs any more. */
function afterAnHour(past: Step): Step {
  return [past, { ms: 3_600_000 }];
}
