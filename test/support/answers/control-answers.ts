import type { ControlAnswer, ControlRoute } from "../../../src/control-api/document/answers.ts";
import type { explainEndpoint } from "../../../src/control-api/explain/explain-endpoint.ts";
import type { explainOperation } from "../../../src/control-api/explain/explain-operation.ts";
import type { computeStats } from "../../../src/control-api/routes/stats.ts";
import type { Account } from "../../../src/platform/model/account.ts";
import type { RecordedEvent } from "../../../src/platform/model/events.ts";
import type { World } from "../../../src/platform/world/world.ts";
import type { coverage } from "../../../src/platform-api/coverage.ts";
import type { ComparedPolicy, Comparison } from "../../../src/whatif/questions/compare/comparison.ts";
import type { ComparedCompute } from "../../../src/whatif/questions/compare/compute-comparison.ts";
import type { IsPathOf } from "./answer-path.ts";
import type { Answered } from "./answered.ts";
import type { Rendered } from "./rendered.ts";

/** An event of the journal as the control API returns it. */
export type AnsweredEvent = Answered<Rendered<RecordedEvent>>;

/** Type of the control API's answer, from the document of its answers; `never` for an unknown path. */
export type ControlAnswerAt<Method extends string, Path extends string> = Answers[RouteOf<Method, Path>];

/** The answers of all calls. */
export type AnyControlAnswer = Answers[ControlRoute];

/** A comparison that may list the computes whose cost changes most. */
export type ListedComparison = Omit<Comparison, "policies"> & {
  readonly policies: readonly (ComparedPolicy & { readonly by_compute: readonly ComparedCompute[] })[];
};

type RouteOf<Method extends string, Path extends string> = {
  [R in ControlRoute]: R extends `${Method} ${infer Template}`
    ? IsPathOf<Template, Path> extends true
      ? R
      : never
    : never;
}[ControlRoute];

/** The answers of the document, in which objects of the world have all their fields. */
type Answers = {
  [R in ControlRoute]: R extends keyof WithWorldObjects
    ? Replaced<ControlAnswer<R>, WithWorldObjects[R]>
    : [ControlAnswer<R>] extends [never]
      ? string
      : ControlAnswer<R>;
};

/** The type without an index signature, and with other types of these fields. */
type Replaced<T, Fields> = {
  [K in keyof T as string extends K ? never : K extends keyof Fields ? never : K]: T[K];
} & Fields;

type RowsOf<T extends keyof World> = World[T] extends
  | { values(): Iterable<infer Row> }
  | { toArray(): readonly (infer Row)[] }
  ? readonly Rendered<Row>[]
  : never;
type Events = { readonly events: readonly Rendered<RecordedEvent>[] };

type Content = Readonly<
  Record<string, { readonly schema: { readonly properties: Record<string, { readonly enum: unknown }> } }>
>;
type DocumentedCall = {
  readonly parameters: readonly { readonly name: string; readonly in: string; readonly required: boolean }[];
  readonly requestBody: { readonly required: boolean; readonly content: Content };
  readonly responses: Readonly<Record<string, { readonly content: Content }>>;
};
type Statistics = Rendered<ReturnType<typeof computeStats>>;
type WithWorldObjects = {
  "GET /endpoints": { readonly endpoints: readonly Statistics[] };
  "GET /endpoints/:endpoint_id/stats": Statistics;
  "GET /openapi.json": { readonly paths: Readonly<Record<string, Readonly<Record<string, DocumentedCall>>>> };
  "GET /coverage": ReturnType<typeof coverage>;
  "GET /events": Events;
  "POST /clock/advance": Events;
  "GET /explain/endpoints/:endpoint_id": Omit<ReturnType<typeof explainEndpoint>, "events"> & Events;
  "GET /explain/operations/:operation_id": Omit<ReturnType<typeof explainOperation>, "events"> & Events;
  "POST /whatif": ListedComparison & { readonly input: { readonly notes: readonly string[] } };
  "GET /accounts": { readonly accounts: readonly Rendered<Account>[] };
  "POST /accounts": { readonly account: Rendered<Account> };
  "PATCH /accounts/:account_id": { readonly account: Rendered<Account> };
  "GET /state": {
    readonly world: Rendered<World["settings"]>;
    readonly numbers: Rendered<World["numbers"]>;
    readonly accounts: RowsOf<"accounts">;
    readonly api_keys: RowsOf<"apiKeys">;
    readonly projects: RowsOf<"projects">;
    readonly branches: RowsOf<"branches">;
    readonly endpoints: RowsOf<"computes">;
    readonly connections: RowsOf<"connections">;
    readonly operations: RowsOf<"operations">;
    readonly scheduled_activities: RowsOf<"scheduledActivities">;
    readonly usage: RowsOf<"usage">;
    readonly hourly_usage: RowsOf<"hourlyUsage">;
    readonly branch_snapshots: RowsOf<"branchSnapshots">;
    readonly records: RowsOf<"records">;
    readonly faults: RowsOf<"faults">;
  };
};
