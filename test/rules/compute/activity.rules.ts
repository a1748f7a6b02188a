import { expect, test } from "vitest";
import {
  MAIN_COMPUTE,
  restartMain,
  SHOP,
  worldWithIdleCompute,
  worldWithProject,
} from "../../support/rules/rule-worlds.ts";
import {
  after,
  type CommandOf,
  given,
  HOUR,
  queued,
  running,
  SECOND,
  type Step,
} from "../../support/rules/rules.ts";

function activity(
  fields: Partial<CommandOf<"RecordActivity">["activity"]> = {},
): CommandOf<"RecordActivity"> {
  return { type: "RecordActivity", activity: { endpointId: "ep-main", kind: "query", ...fields } };
}

const connect = activity({ kind: "connect", connectionId: "c1" });
const connections = (count: number, pooled = false): Step =>
  Array.from({ length: count }, () => activity({ kind: "connect", pooled }));

test("an active compute serves a query without a wait", () => {
  given(worldWithProject())
    .when(activity({ source: "web" }))
    .then([
      {
        type: "ActivityRecorded",
        activity: { endpointId: "ep-main", kind: "query", source: "web" },
        waitedMs: 0,
        opened: undefined,
      },
    ]);
});

test("a query on an idle compute starts it and waits for the start", () => {
  given(worldWithIdleCompute())
    .when(activity())
    .then([
      running("start_compute", { endpointId: "ep-main", cause: "activity" }),
      { type: "ActivityRecorded", waitedMs: 3_000 },
    ]);
});

test("a second query waits for the rest of the same start", () => {
  given(worldWithIdleCompute(), activity(), after(SECOND))
    .when(activity())
    .then([{ type: "ActivityRecorded", waitedMs: 2_000 }]);
});

test("a query during a suspend waits for its end and for a new start", () => {
  given(worldWithProject(), { type: "SuspendCompute", ...MAIN_COMPUTE })
    .when(activity())
    .then([queued("start_compute", { cause: "activity" }), { type: "ActivityRecorded", waitedMs: 4_000 }]);
});

test("a query during a restart waits for the start that is queued already", () => {
  given(worldWithProject(), restartMain)
    .when(activity())
    .then([{ type: "ActivityRecorded", waitedMs: 4_000 }]);
});

test("what lasts opens a connection, with the name it gives or with a new one", () => {
  given(worldWithProject())
    .when(connect)
    .then([{ type: "ActivityRecorded", opened: "c1" }]);
  given(worldWithProject())
    .when(activity({ durationMs: 1 }))
    .then([{ type: "ActivityRecorded", opened: expect.stringMatching(/^#\d+$/) }]);
});

test("a query on an open connection opens no other", () => {
  given(worldWithProject(), connect)
    .when(activity({ connectionId: "c1", durationMs: SECOND }))
    .then([{ type: "ActivityRecorded", opened: undefined }]);
});

test("an open connection is closed once", () => {
  const disconnect = activity({ kind: "disconnect", connectionId: "c1" });
  given(worldWithProject(), connect)
    .when(disconnect)
    .then([{ type: "ActivityRecorded", activity: { kind: "disconnect" }, waitedMs: 0 }]);
  given(worldWithProject(), connect, disconnect).when(disconnect).thenRefused("CONNECTION_NOT_FOUND");
});

test("opening a connection twice under one name is refused", () => {
  given(worldWithProject(), connect).when(connect).thenRefused("CONNECTION_EXISTS");
});

test("names that begin with # are given by the platform: an unknown one is refused", () => {
  given(worldWithProject())
    .when(activity({ connectionId: "#1" }))
    .thenRefused("CONNECTION_NOT_FOUND");
});

test("a compute of 0.25 CU takes 112 direct connections, and not one more", () => {
  given(worldWithProject(), connections(111))
    .when(connect)
    .then([{ type: "ActivityRecorded", opened: "c1" }]);
  given(worldWithProject(), connections(112))
    .when(connect)
    .thenRefused("TOO_MANY_CONNECTIONS", /max_connections is 112/);
});

test("the pooler takes 10,000 clients beside the direct connections, and not one more", () => {
  const pooled = activity({ kind: "connect", pooled: true });
  const almostFull = given(worldWithProject(), connections(112), connections(9_999, true));
  almostFull.when(pooled).then([{ type: "ActivityRecorded" }]);
  almostFull.when(pooled).thenRefused("TOO_MANY_CONNECTIONS", /10000 clients/);
});

test("the number of connections follows the minimum size", () => {
  given(worldWithProject({ compute: { minCu: 1, maxCu: 2 } }), connections(450))
    .when(connect)
    .thenRefused("TOO_MANY_CONNECTIONS", /max_connections is 450/);
});

test("a connection that was made for a query counts until the query ends", () => {
  const busy: Step = [
    worldWithProject(),
    Array.from({ length: 112 }, () => activity({ durationMs: SECOND })),
  ];
  given(busy)
    .when(connect, after(SECOND - 1))
    .thenRefused("TOO_MANY_CONNECTIONS");
  given(busy)
    .when(connect, after(SECOND))
    .then([{ type: "ActivityRecorded", opened: "c1" }]);
});

test("activity names a database of the branch; postgres is always there", () => {
  given(worldWithProject())
    .when(activity({ database: "neondb" }))
    .then([{ type: "ActivityRecorded" }]);
  given(worldWithProject())
    .when(activity({ database: "postgres" }))
    .then([{ type: "ActivityRecorded" }]);
  given(worldWithProject())
    .when(activity({ database: "orders" }))
    .thenRefused("DATABASE_NOT_FOUND", /"orders" does not exist/);
});

test("activity on a disabled compute is refused", () => {
  given(worldWithProject({ compute: { disabled: true } }))
    .when(activity())
    .thenRefused("ENDPOINT_DISABLED");
});

test("activity on an unknown compute, or on one of a deleted project, is refused", () => {
  given(worldWithProject())
    .when(activity({ endpointId: "ep-unknown" }))
    .thenRefused("ENDPOINT_NOT_FOUND");
  given(worldWithProject(), { type: "DeleteProject", ...SHOP }, after(HOUR))
    .when(activity())
    .thenRefused("ENDPOINT_NOT_FOUND");
});
