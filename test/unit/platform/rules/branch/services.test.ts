import { describe, expect, test } from "vitest";
import type { ServiceKind } from "../../../../../src/platform/model/service-record.ts";
import { secretIdsOf } from "../../../../../src/platform/rules/branch/secret-references.ts";
import {
  findEnabledService,
  findServiceRecord,
  servicesOf,
} from "../../../../../src/platform/rules/branch/services/decide-service-record.ts";
import { SERVICE_DEFAULTS } from "../../../../../src/platform/rules/branch/services/service-defaults.ts";
import type { World } from "../../../../../src/platform/world/world.ts";
import {
  createDev,
  DEV,
  MAIN,
  worldWithBranch,
  worldWithProject,
} from "../../../../support/rules/rule-worlds.ts";
import { type CommandOf, given, HOUR, MINUTE, NOW, type Step } from "../../../../support/rules/rules.ts";
import { SimulatedWorld } from "../../../../support/rules/simulated-world.ts";

type NewRecord = CommandOf<"CreateServiceRecord">["record"];
const create = (record: NewRecord): CommandOf<"CreateServiceRecord"> => ({
  type: "CreateServiceRecord",
  ...MAIN,
  record,
});
const auth = create({ kind: "auth", database: "neondb", settings: { auth_provider: "better_auth" } });
const dataApi = create({ kind: "dataApi", key: "neondb", database: "neondb", settings: {} });
const provider = create({ kind: "authOauthProvider", key: "github", settings: {}, secret: "new" });
const bucket = create({ kind: "bucket", key: "files", settings: { access_level: "private" } });

const kindsOf = (world: World, branchId: string) => servicesOf(world, branchId).map(({ kind }) => kind);
const findOn = (kind: ServiceKind, key: string, ...steps: readonly Step[]) =>
  given(worldWithProject(), ...steps).asking((world) => {
    const branch = world.branches.get("br-main");
    if (branch === undefined) throw new Error("br-main does not exist");
    return findEnabledService(world, branch, kind, key);
  });

test.each<[ServiceKind, RegExp]>([
  ["auth", /^auth is not enabled for branch "br-main"$/],
  ["dataApi", /^the Data API is not enabled for database "neondb" of branch "br-main"$/],
  ["anonymization", /^anonymization is not enabled for database "neondb" of branch "br-main"$/],
  ["archived", /^archiving is not enabled/],
  ["bucket", /^bucket "neondb" not found$/],
  ["credential", /^credential "neondb" not found$/],
])("without a record, %s is reported as missing", (kind, message) => {
  expect(findOn(kind, kind === "auth" ? "" : "neondb")).toMatchObject({
    ok: false,
    refusal: { message: expect.stringMatching(message) },
  });
});

test.each<[ServiceKind, RegExp]>([
  ["authDomain", /^trusted domain "x" not found$/],
  ["authOauthProvider", /^OAuth provider "x" not found$/],
])("with auth, a missing %s is reported by its name", (kind, message) => {
  expect(findOn(kind, "x", auth)).toMatchObject({
    ok: false,
    refusal: { code: "SERVICE_RECORD_NOT_FOUND", message: expect.stringMatching(message) },
  });
});

test.each<ServiceKind>([
  "authApplication",
  "authEmailAndPassword",
  "authEmailProvider",
  "authLocalhost",
  "authOrganization",
  "authMagicLink",
  "authPhoneNumber",
  "authWebhook",
])("with auth, %s has defaults until it is updated; without auth it is not enabled", (kind) => {
  expect(findOn(kind, "", auth)).toEqual({ ok: true, value: undefined });
  expect(findOn(kind, "")).toMatchObject({ ok: false, refusal: { code: "NOT_ENABLED" } });
});

test("an existing record is found by its kind and key", () => {
  const found = findOn("bucket", "files", bucket, dataApi);
  expect(found).toMatchObject({ ok: true, value: { kind: "bucket", fields: { key: "files" } } });
  expect(
    given(worldWithProject(), bucket).asking((world) => [
      findServiceRecord(world, "br-main", "bucket", "other"),
      findServiceRecord(world, "br-main", "credential", "files"),
    ]),
  ).toEqual([undefined, undefined]);
});

test("the default settings of auth", () => {
  expect(SERVICE_DEFAULTS).toEqual({
    authApplication: {},
    authEmailAndPassword: {
      enabled: true,
      email_verification_method: "otp",
      require_email_verification: false,
      auto_sign_in_after_verification: true,
      send_verification_email_on_sign_up: false,
      send_verification_email_on_sign_in: false,
      disable_sign_up: false,
    },
    authEmailProvider: { type: "shared" },
    authLocalhost: { allow_localhost: true },
    authOrganization: {
      enabled: true,
      organization_limit: 10,
      membership_limit: 100,
      creator_role: "owner",
      send_invitation_email: false,
    },
    authMagicLink: { enabled: false, expires_in: 5, disable_sign_up: false },
    authPhoneNumber: { enabled: false, otp_expires_in: 300 },
    authWebhook: { enabled: false, enabled_events: [], timeout_seconds: 5 },
  });
});

describe("a new branch", () => {
  test("has copies of auth and of the buckets of its parent, in order, with their ages", () => {
    const { world } = new SimulatedWorld(worldWithProject())
      .run(bucket, auth, { ms: MINUTE }, provider, dataApi, { ms: HOUR })
      .run(createDev);
    expect(servicesOf(world, "br-dev")).toMatchObject([
      { kind: "bucket", createdAt: NOW },
      { kind: "auth", createdAt: NOW },
      { kind: "authOauthProvider", createdAt: NOW + MINUTE },
    ]);
    const numbers = world.records.toArray().map(({ number }) => number);
    expect(new Set(numbers).size).toBe(numbers.length);
    expect(world.numbers.record).toBe(Math.max(...numbers));
  });

  test("at an earlier instant has what was created by then", () => {
    const { world } = new SimulatedWorld(worldWithProject())
      .run({ ms: MINUTE }, bucket, { ms: 1 }, auth, { ms: HOUR })
      .run({ ...createDev, parentTimestamp: NOW + MINUTE });
    expect(kindsOf(world, "br-dev")).toEqual(["bucket"]);
  });

  test("has nothing of auth if the database of auth did not exist", () => {
    const { world } = new SimulatedWorld(worldWithProject())
      .run({ type: "CreateDatabase", ...MAIN, name: "orders", ownerName: "neondb_owner" }, { ms: MINUTE })
      .run(create({ kind: "auth", database: "orders", settings: {} } as NewRecord), provider, { ms: MINUTE })
      .run({ type: "DeleteDatabase", ...MAIN, name: "orders" }, { ms: MINUTE })
      .run(createDev);
    expect(kindsOf(world, "br-main")).toEqual([]);
    expect(kindsOf(world, "br-dev")).toEqual([]);
  });
});

test("a restored branch has the services of its source instead of its own", () => {
  const { world } = new SimulatedWorld(worldWithBranch())
    .run({ ...bucket, ...DEV }, auth, { ms: MINUTE })
    .run({ type: "RestoreBranch", ...DEV, sourceBranchId: "br-main" });
  expect(kindsOf(world, "br-dev")).toEqual(["auth"]);
  expect(kindsOf(world, "br-main")).toEqual(["auth"]);
});

test("a branch that is restored to its own past loses what was created since", () => {
  const { world } = new SimulatedWorld(worldWithProject())
    .run(auth, { ms: HOUR }, bucket, dataApi, { ms: MINUTE })
    .run({
      type: "RestoreBranch",
      ...MAIN,
      sourceBranchId: "br-main",
      sourceTimestamp: NOW + MINUTE,
      preserveUnderName: "before",
    });
  expect(kindsOf(world, "br-main")).toEqual(["auth", "dataApi"]);
});

test("another name of a database is that of its services, and of no others", () => {
  const { world } = new SimulatedWorld(worldWithProject())
    .run({ type: "CreateDatabase", ...MAIN, name: "orders", ownerName: "neondb_owner" }, { ms: MINUTE })
    .run(auth, dataApi, create({ kind: "dataApi", key: "orders", database: "orders", settings: {} }))
    .run({ type: "UpdateDatabase", ...MAIN, name: "neondb", newName: "shop" });
  expect(servicesOf(world, "br-main").map(({ kind, fields }) => [kind, fields.key, fields.database])).toEqual(
    [
      ["auth", "", "shop"],
      ["dataApi", "shop", "shop"],
      ["dataApi", "orders", "orders"],
    ],
  );
});

test("the services of a deleted database are gone, and what belongs to them", () => {
  const { world } = new SimulatedWorld(worldWithProject())
    .run({ type: "CreateDatabase", ...MAIN, name: "orders", ownerName: "neondb_owner" }, { ms: MINUTE })
    .run(auth, provider, bucket, create({ kind: "dataApi", key: "orders", database: "orders", settings: {} }))
    .run({ type: "DeleteDatabase", ...MAIN, name: "neondb" });
  expect(kindsOf(world, "br-main")).toEqual(["bucket", "dataApi"]);
});

describe("a world needs the secrets", () => {
  const secrets = (simulated: SimulatedWorld) =>
    [...secretIdsOf(simulated.world, simulated.now)].filter((id) => !id.endsWith(":verifier")).sort();

  test("of the roles of its branches and of their past, within the retention (exclusive)", () => {
    const simulated = new SimulatedWorld(worldWithProject({ historyRetentionSeconds: 3_600 })).run({
      type: "ResetRolePassword",
      ...MAIN,
      name: "neondb_owner",
    });
    expect(secrets(simulated.wait(HOUR - 1))).toEqual(["role-1", "role-2"]);
    expect([...secretIdsOf(simulated.world, simulated.now)]).toContain("role-1:verifier");
    expect(secrets(simulated.wait(1))).toEqual(["role-2"]);
  });

  test("of snapshots", () => {
    const simulated = new SimulatedWorld(worldWithProject({ historyRetentionSeconds: 0 })).run(
      { type: "CreateSnapshot", ...MAIN },
      { type: "ResetRolePassword", ...MAIN, name: "neondb_owner" },
      { ms: HOUR },
    );
    expect(secrets(simulated)).toEqual(["role-1", "role-2"]);
  });

  test("of services that have one", () => {
    const simulated = new SimulatedWorld(worldWithProject()).run(auth, bucket, provider);
    expect(secrets(simulated)).toEqual(["role-1", expect.stringMatching(/^service-\d+$/)]);
  });
});
