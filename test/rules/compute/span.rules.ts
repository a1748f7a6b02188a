import { test } from "vitest";
import { MAIN_COMPUTE, worldWithIdleCompute, worldWithProject } from "../../support/rules/rule-worlds.ts";
import { after, type CommandOf, given, MINUTE, NOW, SECOND } from "../../support/rules/rules.ts";

const begin: CommandOf<"BeginSpan"> = { type: "BeginSpan", endpointId: "ep-main" };

function end(
  beganAt: number,
  until: number,
  fields: Partial<CommandOf<"EndSpan">> = {},
): CommandOf<"EndSpan"> {
  return { type: "EndSpan", endpointId: "ep-main", beganAt, until, arrivals: 1, ...fields };
}

const autosuspend = { kind: "autosuspend", id: "ep-main" } as const;

test("clients of an active compute begin to work", () => {
  given(worldWithProject())
    .when(begin)
    .then([{ type: "SpanBegan", at: NOW, endpointId: "ep-main" }]);
});

test("an idle compute has no span, and neither has an unknown one", () => {
  given(worldWithIdleCompute()).when(begin).thenRefused("ENDPOINT_NOT_ACTIVE");
  given(worldWithProject())
    .when({ ...begin, endpointId: "ep-none" })
    .thenRefused("ENDPOINT_NOT_FOUND");
});

test("a compute has one span at a time", () => {
  given(worldWithProject(), begin).when(begin).thenRefused("SPAN_EXISTS");
});

test("a span ends with the last work, which was before the report", () => {
  given(worldWithProject(), begin, after(3 * SECOND))
    .when(end(NOW, NOW + 2 * SECOND, { arrivals: 7 }))
    .then([{ type: "SpanEnded", beganAt: NOW, until: NOW + 2 * SECOND, arrivals: 7, continues: undefined }]);
});

test("a span reports what Postgres has done with data", () => {
  const data = { writtenBytes: 100, transferredBytes: 20, logicalSizeBytes: 8_192 };
  given(worldWithProject(), begin, after(SECOND))
    .when(end(NOW, NOW, { data }))
    .then([{ type: "SpanEnded", data }]);
});

test("a span cannot end after the report", () => {
  given(worldWithProject(), begin, after(SECOND))
    .when(end(NOW, NOW + MINUTE))
    .then([{ type: "SpanEnded", until: NOW + SECOND }]);
});

test("only the open span can end", () => {
  given(worldWithProject()).when(end(NOW, NOW)).thenRefused("SPAN_NOT_FOUND");
  given(worldWithProject(), begin, after(SECOND))
    .when(end(NOW + SECOND, NOW + SECOND))
    .thenRefused("SPAN_NOT_FOUND");
});

test("a compute does not suspend while a span is open, however long", () => {
  given(worldWithProject(), begin, after(60 * MINUTE))
    .when(autosuspend)
    .then([]);
});

test("the delay counts from the end of the last work", () => {
  const idle = [begin, after(10 * SECOND), end(NOW, NOW + 9 * SECOND)];
  given(worldWithProject(), idle)
    .when(autosuspend, after(5 * MINUTE - SECOND - 1))
    .then([]);
  given(worldWithProject(), idle)
    .when(autosuspend, after(5 * MINUTE - SECOND))
    .then([{ type: "OperationScheduled" }, { type: "ComputeSuspended", cause: "autosuspend" }]);
});

test("a span that continues holds off the autosuspend", () => {
  const cut = [begin, after(MINUTE), end(NOW, NOW + MINUTE, { continues: true })];
  given(worldWithProject(), cut, after(60 * MINUTE))
    .when(autosuspend)
    .then([]);
  given(worldWithProject(), cut, after(SECOND))
    .when(end(NOW + MINUTE, NOW + MINUTE + SECOND))
    .then([{ type: "SpanEnded", beganAt: NOW + MINUTE, until: NOW + MINUTE + SECOND }]);
});

test("a suspend ends the span", () => {
  given(worldWithProject(), begin, { type: "SuspendCompute", ...MAIN_COMPUTE }, after(5 * SECOND))
    .when(end(NOW, NOW))
    .thenRefused("ENDPOINT_NOT_ACTIVE");
});
