import { test } from "vitest";
import { worldWithIdleCompute, worldWithProject } from "../../support/rules/rule-worlds.ts";
import { after, type CommandOf, DAY, done, given, MINUTE, SECOND } from "../../support/rules/rules.ts";

const autosuspendIsDue = { kind: "autosuspend", id: "ep-main" } as const;
const isSuspended = [
  done("suspend_compute", { endpointId: "ep-main", cause: "autosuspend", durationMs: 0 }),
  { type: "ComputeSuspended", endpointId: "ep-main", cause: "autosuspend" },
] as const;

function activity(
  fields: Partial<CommandOf<"RecordActivity">["activity"]> = {},
): CommandOf<"RecordActivity"> {
  return { type: "RecordActivity", activity: { endpointId: "ep-main", kind: "query", ...fields } };
}

test("a compute is suspended exactly at the delay after its last query", () => {
  given(worldWithProject(), activity())
    .when(autosuspendIsDue, after(5 * MINUTE - 1))
    .then([]);
  given(worldWithProject(), activity())
    .when(autosuspendIsDue, after(5 * MINUTE))
    .then(isSuspended);
});

test("without any activity the delay counts from the start, six seconds ago", () => {
  given(worldWithProject())
    .when(autosuspendIsDue, after(294 * SECOND - 1))
    .then([]);
  given(worldWithProject())
    .when(autosuspendIsDue, after(294 * SECOND))
    .then(isSuspended);
});

test("the delay counts from the end of the longest query", () => {
  const queries = [worldWithProject(), activity({ durationMs: MINUTE }), activity()];
  given(queries)
    .when(autosuspendIsDue, after(6 * MINUTE - 1))
    .then([]);
  given(queries)
    .when(autosuspendIsDue, after(6 * MINUTE))
    .then(isSuspended);
});

test("a compute has its own delay", () => {
  const oneMinute = [worldWithProject({ compute: { suspendTimeoutSeconds: 60 } }), activity()];
  given(oneMinute)
    .when(autosuspendIsDue, after(MINUTE - 1))
    .then([]);
  given(oneMinute).when(autosuspendIsDue, after(MINUTE)).then(isSuspended);
});

test("a delay of -1 means never", () => {
  given(worldWithProject({ compute: { suspendTimeoutSeconds: -1 } }))
    .when(autosuspendIsDue, after(30 * DAY))
    .then([]);
});

test("an open connection without a query does not hold off the suspend", () => {
  given(worldWithProject(), activity({ kind: "connect", connectionId: "c1" }))
    .when(autosuspendIsDue, after(5 * MINUTE))
    .then(isSuspended);
});

test("an open transaction holds off the suspend until its connection closes", () => {
  const begin = activity({ kind: "transaction", connectionId: "c1" });
  const disconnect = activity({ kind: "disconnect", connectionId: "c1" });
  given(worldWithProject(), begin).when(autosuspendIsDue, after(DAY)).then([]);
  given(worldWithProject(), begin, after(DAY), disconnect)
    .when(autosuspendIsDue, after(5 * MINUTE - 1))
    .then([]);
  given(worldWithProject(), begin, after(DAY), disconnect)
    .when(autosuspendIsDue, after(5 * MINUTE))
    .then(isSuspended);
});

test("the autosuspend of an idle or an unknown compute does nothing", () => {
  given(worldWithIdleCompute()).when(autosuspendIsDue, after(DAY)).then([]);
  given(worldWithProject()).when({ kind: "autosuspend", id: "ep-unknown" }).then([]);
});
