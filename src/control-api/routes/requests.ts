import * as z from "zod";
import { omitUndefined } from "../../kernel/omit-undefined.ts";
import type { RequestLogEntry } from "../../simulation/request-log.ts";
import type { WorldHandle } from "../../worlds/world-handle.ts";
import { clockInstant } from "../http/control-fields.ts";
import { ENTRIES_PER_CHUNK, followEntries } from "../http/follow-entries.ts";
import type { ControlOptions } from "../http/handler.ts";
import { formatInstant } from "../http/render-object.ts";
import { type ControlApiRoute, route } from "../http/route.ts";
import { strict, unknownName } from "../http/strict-fields.ts";

const MAX_REQUESTS = 10_000;
const DEFAULT_REQUESTS = 1_000;
const REQUESTS_PER_READ = 1_000;

const wholeNumber = (maximum: number) =>
  z
    .string()
    .regex(/^\d{1,15}$/, `must be a whole number up to ${maximum}`)
    .transform(Number)
    .refine((value) => value <= maximum, `must be a whole number up to ${maximum}`);
const yesOrNo = z.enum(["true", "false"]).transform((text) => text === "true");

const requestsQuery = (operationIds: readonly string[]) =>
  strict({
    since: wholeNumber(Number.MAX_SAFE_INTEGER).optional(),
    newest: wholeNumber(MAX_REQUESTS).optional(),
    limit: wholeNumber(MAX_REQUESTS)
      .refine((limit) => limit >= 1, `must be a whole number from 1 to ${MAX_REQUESTS}`)
      .default(DEFAULT_REQUESTS),
    count: yesOrNo.default(false),
    method: z
      .string()
      .transform((text) => text.toUpperCase())
      .optional(),
    operation_id: z
      .string()
      .refine((name) => operationIds.includes(name), {
        error: (issue) => unknownName("operation", String(issue.input), operationIds),
      })
      .optional(),
    status: z
      .string()
      .regex(
        /^([1-5]\d\d|[1-5]xx|none)$/,
        "must be a status like 423, a class like 5xx, or none for a lost connection",
      )
      .optional(),
    path: z.string().optional(),
    key_id: wholeNumber(Number.MAX_SAFE_INTEGER).optional(),
    account_id: z.string().optional(),
    fault: z.string().optional(),
    matched: yesOrNo.optional(),
    from: clockInstant.optional(),
    until: clockInstant.optional(),
  });
type RequestsQuery = ReturnType<typeof requestsQuery>;
type RequestFilter = z.output<RequestsQuery>;

/** The request log: requests to the imitated API and their responses. */
export function requestRoutes({ operationIds }: ControlOptions): readonly ControlApiRoute[] {
  return [listRequests(requestsQuery(operationIds)), streamRequests, clearRequests];
}

const listRequests = (query: RequestsQuery) =>
  route("GET /requests", { query }, async ({ world, query }) => {
    const matching: RequestLogEntry[] = [];
    let count = 0;
    const since =
      query.newest === undefined
        ? (query.since ?? 0)
        : Math.max(query.since ?? 0, world.newestRequest() - query.newest);
    for await (const request of requestsOf(world, since)) {
      if (!matchesFilter(request, query)) continue;
      count += 1;
      if (query.count) continue;
      matching.push(request);
      if (count === query.limit) break;
    }
    if (query.count) return { count };
    return { requests: matching.map(renderRequest), next_since: matching.at(-1)?.number ?? since };
  });

const streamRequests = route(
  "GET /requests/stream",
  { query: strict({ since: wholeNumber(Number.MAX_SAFE_INTEGER).optional() }) },
  ({ world, query, server }, context) =>
    followEntries(context, world, server, {
      head: () => world.newestRequest(),
      newest: () => world.newestRequest(),
      since: query.since,
      subscribe: (listener) => world.subscribeToRequests(listener),
      read: async (since) =>
        (await world.requests(since, ENTRIES_PER_CHUNK)).map((request) => ({
          number: request.number,
          name: "request",
          entry: renderRequest(request),
        })),
    }),
);

const clearRequests = route("DELETE /requests", {}, async ({ world }) => {
  await world.clearRequests();
  return { requests: [], next_since: 0 };
});

async function* requestsOf(world: WorldHandle, since: number): AsyncGenerator<RequestLogEntry> {
  for (let from = since; ; ) {
    const portion = await world.requests(from, REQUESTS_PER_READ);
    yield* portion;
    const last = portion.at(-1);
    if (last === undefined || portion.length < REQUESTS_PER_READ) return;
    from = last.number;
  }
}

function matchesFilter(request: RequestLogEntry, filter: RequestFilter): boolean {
  const equals = <T>(expected: T | undefined, actual: T | undefined) =>
    expected === undefined || expected === actual;
  return (
    equals(filter.method, request.method) &&
    equals(filter.operation_id, request.operationId) &&
    equals(filter.key_id, request.keyId) &&
    equals(filter.account_id, request.accountId) &&
    equals(filter.fault, request.fault) &&
    equals(filter.matched, request.operationId !== undefined) &&
    hasStatus(request, filter.status) &&
    request.path.includes(filter.path ?? "") &&
    request.at >= (filter.from ?? 0) &&
    request.at < (filter.until ?? Number.POSITIVE_INFINITY)
  );
}

function hasStatus({ status }: RequestLogEntry, filter: string | undefined): boolean {
  if (filter === undefined) return true;
  const text = String(status ?? "none");
  return filter.endsWith("xx") ? text.startsWith(filter.slice(0, 1)) && text !== "none" : text === filter;
}

function renderRequest(request: RequestLogEntry) {
  const {
    number,
    at,
    seq,
    requestId,
    method,
    path,
    operationId,
    status,
    code,
    accountId,
    keyId,
    body,
    answered,
    fault,
  } = request;
  return omitUndefined({
    number,
    at: formatInstant(at),
    seq,
    request_id: requestId,
    method,
    path,
    operation_id: operationId ?? null,
    status: status ?? null,
    code,
    account_id: accountId ?? null,
    key_id: keyId ?? null,
    body,
    answered,
    fault,
  });
}
