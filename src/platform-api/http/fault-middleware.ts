import { setTimeout as sleep } from "node:timers/promises";
import { type ErrorResponse, errorResponseOf } from "../../http/errors.ts";
import { waitUntil } from "../../http/world-clock-wait.ts";
import { omitUndefined } from "../../kernel/omit-undefined.ts";
import type { FaultOutcome, FaultTarget } from "../../platform/model/fault.ts";
import { refuseConflicts } from "../../platform/rules/operation/locked-by-operations.ts";
import type { Transaction, WorldHandle } from "../../worlds/world-handle.ts";

/** The combined effect of the faults that a request matched. */
export type MatchedFault = {
  /** The last matching fault, which decides the result. */
  readonly faultName: string;
  /** Waited out before the request is handled. */
  readonly delays: readonly FaultDelay[];
  /** Sent instead of handling the request. */
  readonly answer?: FaultResponse;
  /** The connection is dropped before or after the request is handled. */
  readonly lost?: "before" | "after";
};

type FaultDelay = Extract<FaultOutcome, { kind: "latency" }>;
/** The user of a fault may choose any code. */
type FaultResponse = Omit<ErrorResponse, "code"> & { readonly code: string };

/** Matches the faults against a request and counts it; `undefined` if none triggers. */
export function matchRequestFaults(transaction: Transaction, target: FaultTarget): MatchedFault | undefined {
  const matched = transaction.execute({ type: "MatchFaults", target });
  const hits = matched.ok ? matched.value.filter((event) => event.type === "FaultHit") : [];
  const last = hits.at(-1);
  if (last === undefined) return undefined;
  const delays = hits.flatMap(({ outcome }) => (outcome.kind === "latency" ? [outcome] : []));
  return { faultName: last.fault, delays, ...faultResultOf(last.outcome) };
}

function faultResultOf(outcome: FaultOutcome): Pick<MatchedFault, "answer" | "lost"> {
  switch (outcome.kind) {
    case "drop":
      return { lost: "before" };
    case "lose_response":
      return { lost: "after" };
    case "answer":
      return { answer: faultResponseOf(outcome) };
    case "rate_limit":
      return {
        answer: {
          status: 429,
          code: "TOO_MANY_REQUESTS",
          message: `too many requests: at most ${outcome.requests} in ${outcome.perMs / 1_000} s are allowed`,
          headers: retryAfter(outcome.retryAfterS),
        },
      };
    case "maintenance":
      // A: the public document has maintenance_starts_at and maintenance_scheduled_for, but no status for
      // rejected changes.
      return {
        answer: {
          status: 423,
          code: "PROJECT_IN_MAINTENANCE",
          message: `project "${outcome.projectId}" is in maintenance; try again later`,
        },
      };
    case "latency":
    case "operation_fails":
    case "start_slower":
    case "reject_connection":
    case "delay_connection":
    case "drop_connection":
    case "end_connection":
      return {};
    default:
      return outcome satisfies never;
  }
}

/** Like the platform's errors of this status: C and D for 423, D for 429, A for the others. */
function faultResponseOf({
  status,
  code,
  message,
  retryAfterS,
}: Extract<FaultOutcome, { kind: "answer" }>): FaultResponse {
  const defaults = DEFAULT_RESPONSES[status] ?? {
    code: `HTTP_${status}`,
    message: `answered by a fault with status ${status}`,
  };
  const seconds = retryAfterS ?? defaults.retryAfterS;
  return {
    status,
    code: code ?? defaults.code,
    message: message ?? defaults.message,
    ...omitUndefined({ headers: seconds === undefined ? undefined : retryAfter(seconds) }),
  };
}

const DEFAULT_RESPONSES: Readonly<
  Record<number, { readonly code: string; readonly message: string; readonly retryAfterS?: number }>
> = {
  400: { code: "BAD_REQUEST", message: "bad request" },
  401: { code: "UNAUTHORIZED", message: "the API key is not valid or has been revoked" },
  403: { code: "FORBIDDEN", message: "forbidden" },
  404: { code: "NOT_FOUND", message: "not found" },
  409: { code: "CONFLICT", message: "conflict" },
  422: { code: "UNPROCESSABLE_ENTITY", message: "unprocessable entity" },
  423: errorResponseOf(refuseConflicts()),
  429: { code: "TOO_MANY_REQUESTS", message: "too many requests", retryAfterS: 1 },
  500: { code: "INTERNAL_SERVER_ERROR", message: "internal server error" },
  502: { code: "BAD_GATEWAY", message: "bad gateway" },
  503: { code: "SERVICE_UNAVAILABLE", message: "service unavailable", retryAfterS: 1 },
  504: { code: "GATEWAY_TIMEOUT", message: "gateway timeout" },
};

/** Error codes of faults whose user chose no code. */
export const FAULT_CODES: readonly string[] = [
  ...Object.values(DEFAULT_RESPONSES).map(({ code }) => code),
  "PROJECT_IN_MAINTENANCE",
  ...Array.from({ length: 200 }, (_, index) => `HTTP_${400 + index}`),
];

function retryAfter(seconds: number): Readonly<Record<string, string>> {
  return { "Retry-After": String(seconds) };
}

/** Waits out the delays of a request. */
export async function waitOutDelays(world: WorldHandle, delays: readonly FaultDelay[]): Promise<void> {
  for (const { clock, ms } of delays) {
    if (clock === "wall") await sleep(ms);
    else await waitUntil(world, world.now() + ms);
  }
}
