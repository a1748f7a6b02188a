import { describe, expect, test } from "vitest";
import {
  createDev,
  createOther,
  DEV,
  MAIN,
  SHOP,
  worldWithBranch,
  worldWithProject,
} from "../../support/rules/rule-worlds.ts";
import { after, type CommandOf, given, NOW, SECOND, START } from "../../support/rules/rules.ts";

type Create = CommandOf<"CreateServiceRecord">;
type NewRecord = Create["record"];
const create = (record: NewRecord): Create => ({ type: "CreateServiceRecord", ...MAIN, record });

const bucket = create({ kind: "bucket", key: "files", settings: { access_level: "private" } });
const auth = create({ kind: "auth", database: "neondb", settings: { auth_provider: "better_auth" } });
const domain = create({
  kind: "authDomain",
  key: "https://shop.example",
  settings: { auth_provider: "better_auth" },
});
const provider = create({ kind: "authOauthProvider", key: "github", settings: {}, secret: "new" });
const dataApi = create({ kind: "dataApi", key: "neondb", database: "neondb", settings: {} });
const credential = create({ kind: "credential", settings: { scopes: [], principal_type: "user" } });

const localhost = (isAllowed: boolean): CommandOf<"UpdateServiceRecord"> => ({
  type: "UpdateServiceRecord",
  ...MAIN,
  kind: "authLocalhost",
  key: "",
  settings: { allow_localhost: isAllowed },
  replaces: false,
});
const remove = (kind: NewRecord["kind"], ...keys: string[]): CommandOf<"DeleteServiceRecords"> => ({
  type: "DeleteServiceRecords",
  ...MAIN,
  kind,
  keys,
});

const OPERATION_ENDED = after(5 * SECOND);

describe("creating", () => {
  test("a bucket records what the caller sent, for the branch", () => {
    given(worldWithProject())
      .when(bucket)
      .then([
        {
          type: "RecordCreated",
          record: {
            kind: "bucket",
            scope: "br-main",
            fields: { key: "files", settings: { access_level: "private" }, secretId: undefined },
          },
        },
      ]);
  });

  test("a second bucket of the same name is refused", () => {
    given(worldWithProject(), bucket)
      .when(bucket)
      .thenRefused("SERVICE_RECORD_EXISTS", /bucket "files"/);
  });

  test("enabling auth twice is refused", () => {
    given(worldWithProject(), auth)
      .when(auth)
      .thenRefused("SERVICE_RECORD_EXISTS", /already enabled/);
  });

  test("a trusted domain needs auth", () => {
    given(worldWithProject())
      .when(domain)
      .thenRefused("NOT_ENABLED", /^auth is not enabled for branch/);
  });

  test("the Data API needs its database", () => {
    given(worldWithProject())
      .when(create({ kind: "dataApi", key: "none", database: "none", settings: {} }))
      .thenRefused("DATABASE_NOT_FOUND");
  });

  test("a secret is not in the event, only its id", () => {
    given(worldWithProject(), auth)
      .when(provider)
      .then([
        { type: "RecordCreated", record: { fields: { secretId: expect.stringMatching(/^service-\d+$/) } } },
      ]);
  });

  test("a credential gets its key from the id of its record", () => {
    given(worldWithProject())
      .when(credential)
      .then([
        {
          type: "RecordCreated",
          record: { fields: { key: expect.stringMatching(/^nak_live_[0-9a-f]{32}$/) } },
        },
      ]);
  });
});

describe("updating", () => {
  test("a configuration that was never updated is recorded", () => {
    given(worldWithProject(), auth)
      .when(localhost(false))
      .then([{ type: "RecordCreated", record: { fields: { settings: { allow_localhost: false } } } }]);
  });

  test("a configuration merges what the caller sent", () => {
    given(worldWithProject(), dataApi)
      .when({
        type: "UpdateServiceRecord",
        ...MAIN,
        kind: "dataApi",
        key: "neondb",
        settings: { provider_name: "a" },
        replaces: false,
      })
      .then([{ type: "RecordUpdated", recordId: "record-1", fields: { settings: { provider_name: "a" } } }]);
  });

  test("with the present values changes nothing", () => {
    given(worldWithProject(), auth, localhost(false)).when(localhost(false)).then([]);
  });

  test("without a new secret keeps the present one", () => {
    const update = {
      type: "UpdateServiceRecord",
      ...MAIN,
      kind: "authOauthProvider",
      key: "github",
    } as const;
    given(worldWithProject(), auth, provider)
      .when({ ...update, settings: {}, replaces: false, secret: "same" })
      .then([]);
    given(worldWithProject(), auth, provider)
      .when({ ...update, settings: {}, replaces: true })
      .then([{ type: "RecordUpdated", recordId: "record-2", fields: { secretId: undefined } }]);
  });

  test("what does not exist is refused", () => {
    given(worldWithProject())
      .when({ ...localhost(true), kind: "anonymization", settings: {} })
      .thenRefused("NOT_ENABLED", /anonymization is not enabled/);
    given(worldWithProject())
      .when(localhost(true))
      .thenRefused("NOT_ENABLED", /auth is not enabled/);
  });
});

describe("deleting", () => {
  test("auth deletes what belongs to it", () => {
    given(worldWithProject(), auth, domain, bucket)
      .when(remove("auth", ""))
      .then([
        { type: "RecordDeleted", recordId: "record-2" },
        { type: "RecordDeleted", recordId: "record-1" },
      ]);
  });

  test("what does not exist is refused, and nothing is deleted", () => {
    given(worldWithProject(), bucket)
      .when(remove("bucket", "files", "none"))
      .thenRefused("SERVICE_RECORD_NOT_FOUND", /bucket "none" not found/);
  });

  test("a credential marks it as revoked, once", () => {
    given(worldWithProject(), create({ ...credential.record, key: "c" } as NewRecord))
      .when(remove("credential", "c"), after(SECOND))
      .then([{ type: "RecordUpdated", recordId: "record-1", fields: { markedAt: NOW + SECOND } }]);
    given(
      worldWithProject(),
      create({ ...credential.record, key: "c" } as NewRecord),
      remove("credential", "c"),
    )
      .when(remove("credential", "c"))
      .then([]);
  });
});

test.each([bucket, localhost(true), remove("bucket", "files")])(
  "$type for a project of another account is refused",
  (command) => {
    given(worldWithProject(), createOther)
      .when({ ...command, accountId: "other" })
      .thenRefused("PROJECT_NOT_FOUND");
  },
);

describe("a new branch", () => {
  test("gets copies of auth and buckets, with their creation times and secrets, and nothing else", () => {
    given(worldWithProject(), auth, provider, bucket, dataApi, credential, after(SECOND))
      .when(createDev)
      .then([
        { type: "BranchCreated" },
        { type: "RecordCreated", record: { kind: "auth", scope: "br-dev", createdAt: NOW } },
        {
          type: "RecordCreated",
          record: { kind: "authOauthProvider", fields: { secretId: expect.stringMatching(/^service-/) } },
        },
        { type: "RecordCreated", record: { kind: "bucket", createdAt: NOW } },
        { type: "OperationScheduled" },
      ]);
  });

  test("gets none from before they were created, and none with the schema only", () => {
    given(worldWithProject(), auth, bucket)
      .when({ ...createDev, parentTimestamp: START })
      .then([{ type: "BranchCreated" }, { type: "OperationScheduled" }]);
    given(worldWithProject(), auth, bucket)
      .when({ ...createDev, initSource: "schema-only" })
      .then([{ type: "BranchCreated" }, { type: "OperationScheduled" }]);
  });

  test("can be created as archived", () => {
    given(worldWithProject())
      .when({ ...createDev, services: [{ kind: "archived", settings: {} }] })
      .then([
        { type: "BranchCreated" },
        { type: "RecordCreated", record: { kind: "archived", scope: "br-dev" } },
        { type: "OperationScheduled" },
      ]);
  });
});

describe("restoring", () => {
  const onDev = (command: Create): Create => ({ ...command, ...DEV });

  test("a branch replaces its copied records by those of its source", () => {
    given(
      worldWithBranch(),
      bucket,
      onDev(create({ ...bucket.record, key: "own" } as NewRecord)),
      onDev(credential),
    )
      .when({ type: "RestoreBranch", ...DEV, sourceBranchId: "br-main" })
      .then([
        { type: "BranchRestored" },
        { type: "RecordDeleted", recordId: "record-2" },
        { type: "RecordCreated", record: { kind: "bucket", scope: "br-dev", fields: { key: "files" } } },
        { type: "OperationScheduled" },
      ]);
  });

  test("a branch from its own history deletes what was created later, and preserves it", () => {
    given(worldWithBranch(), onDev(bucket))
      .when({
        type: "RestoreBranch",
        ...DEV,
        sourceBranchId: "br-dev",
        sourceTimestamp: NOW - SECOND,
        preserveUnderName: "before",
      })
      .then([
        { type: "BranchCreated" },
        { type: "RecordCreated", record: { kind: "bucket" } },
        { type: "BranchRestored" },
        { type: "RecordDeleted", recordId: "record-1" },
        { type: "OperationScheduled" },
        { type: "OperationScheduled" },
      ]);
  });

  test("a snapshot copies what its branch had at that time", () => {
    given(
      worldWithProject(),
      bucket,
      { type: "CreateSnapshot", ...MAIN, name: "nightly" },
      after(SECOND),
      create({ ...bucket.record, key: "later" } as NewRecord),
    )
      .when({ type: "RestoreSnapshot", ...SHOP, snapshotId: "snapshot-1", finalize: false })
      .then([
        { type: "BranchCreated" },
        { type: "RecordCreated", record: { kind: "bucket", fields: { key: "files" } } },
        { type: "OperationScheduled" },
      ]);
  });
});

describe("a database", () => {
  const list = (kind: NewRecord["kind"], key: string) => remove(kind, key);

  test("that is deleted takes its services with it", () => {
    given(
      worldWithProject(),
      auth,
      domain,
      dataApi,
      { type: "DeleteDatabase", ...MAIN, name: "neondb" },
      OPERATION_ENDED,
    )
      .when(list("auth", ""))
      .thenRefused("NOT_ENABLED");
  });

  test("that is renamed keeps its services", () => {
    given(
      worldWithProject(),
      dataApi,
      { type: "UpdateDatabase", ...MAIN, name: "neondb", newName: "shop" },
      OPERATION_ENDED,
    )
      .when(list("dataApi", "shop"))
      .then([{ type: "RecordDeleted", recordId: "record-1" }]);
  });
});

describe("services that refer to others", () => {
  const put = (
    kind: "bucketObject" | "function",
    key: string,
    settings: object,
    onlyOwn?: true,
  ): CommandOf<"UpdateServiceRecord"> => ({
    type: "UpdateServiceRecord",
    ...MAIN,
    kind,
    key,
    settings,
    replaces: true,
    onlyOwn,
  });
  const object = (key: string, size = 1) => put("bucketObject", key, { size, etag: "" });
  const hello = put("function", "hello", { deployments: [] });
  const user = (email: string) => create({ kind: "authUser", settings: { email } });
  const trigger = (name: string) =>
    create({
      kind: "trigger",
      settings: {
        type: "schedule",
        function_slug: "hello",
        name,
        function_path: "/",
        enabled: true,
        version: 1,
        schedule: { cron: "* * * * *" },
      },
    });

  test("an object needs its bucket, is replaced by the same key, and is deleted with its bucket", () => {
    given(worldWithProject())
      .when(object("files/a"))
      .thenRefused("SERVICE_RECORD_NOT_FOUND", /bucket "files" not found/);
    given(worldWithProject(), bucket, object("files/a"))
      .when(object("files/a", 2))
      .then([{ type: "RecordUpdated", fields: { key: "files/a", settings: { size: 2, etag: "" } } }]);
    given(worldWithProject(), bucket, object("files/a"))
      .when(remove("bucket", "files"))
      .then([{ type: "RecordDeleted" }, { type: "RecordDeleted" }]);
  });

  test("the objects of a branch have at most 64 MiB together", () => {
    const most = 64 * 1024 ** 2;
    given(worldWithProject(), bucket, object("files/a", most - 1))
      .when(object("files/b", 1))
      .then([{ type: "RecordCreated" }]);
    given(worldWithProject(), bucket, object("files/a", most - 1))
      .when(object("files/b", 2))
      .thenRefused("PLAN_LIMIT_EXCEEDED", /at most/);
  });

  test("two users have different email addresses, in any case of letters", () => {
    given(worldWithProject(), auth, user("a@a.example"))
      .when(user("A@a.example"))
      .thenRefused("SERVICE_RECORD_EXISTS", /auth user/);
    given(worldWithProject(), auth, user("a@a.example"))
      .when(user("b@a.example"))
      .then([{ type: "RecordCreated" }]);
  });

  test("a trigger needs its function, and a name of its own", () => {
    given(worldWithProject())
      .when(trigger("hourly"))
      .thenRefused("SERVICE_RECORD_NOT_FOUND", /function "hello" not found/);
    given(worldWithProject(), hello, trigger("hourly"))
      .when(trigger("hourly"))
      .thenRefused("SERVICE_RECORD_EXISTS", /function trigger "hourly"/);
    given(worldWithProject())
      .when(remove("trigger", "none"))
      .thenRefused("SERVICE_RECORD_NOT_FOUND", /^function trigger not visible on branch$/);
  });

  test("what must be the branch's own is not created", () => {
    given(worldWithProject())
      .when(put("function", "hello", { deployments: [], name: "Hello" }, true))
      .thenRefused("SERVICE_RECORD_NOT_FOUND", /function "hello" not found/);
  });
});
