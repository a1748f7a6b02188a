import { isoInstant } from "../../kernel/calendar.ts";
import { omitUndefined } from "../../kernel/omit-undefined.ts";
import type { Account } from "../../platform/model/account.ts";
import type { Activity } from "../../platform/model/activity.ts";
import type { ApiKey } from "../../platform/model/api-key.ts";
import type { ContentNoun, EventTypeOf, RecordedEvent } from "../../platform/model/events.ts";
import type { FaultDefinition } from "../../platform/model/fault.ts";
import type { SpanData } from "../../platform/model/span.ts";

/** Renders values as the control API accepts them. */
export type ControlRenderers = {
  readonly activity: (activity: Activity) => object;
  readonly fault: (fault: FaultDefinition) => object;
};

type RequestOrigins = {
  readonly createdByRequest: ReadonlySet<string>;
  readonly firstKeys: ReadonlyMap<string, ApiKey>;
  /** Sequence numbers of events without a request. */
  readonly withoutRequestSeqs: ReadonlySet<number>;
};

/**
 * The call of the control API that causes an event; `undefined` when a request or the world itself caused it.
 */
export function controlCallFor(
  event: RecordedEvent,
  renderers: ControlRenderers,
  keyOf: (keyId: number) => string,
  { createdByRequest, firstKeys, withoutRequestSeqs }: RequestOrigins,
  omitted: string[],
): object | undefined {
  switch (event.type) {
    case "ActivityRecorded":
      return event.scheduled === undefined ? activityCall(renderers.activity(event.activity)) : undefined;
    case "ActivityScheduled": {
      const { activity, at } = event.scheduled;
      return activityCall({ ...renderers.activity(activity), at: isoInstant(at) });
    }
    case "AccountPlanChanged":
      return { method: "PATCH", path: `/accounts/${event.accountId}`, body: { plan: event.plan } };
    case "ApiKeyCreated": {
      const { id, accountId, name, scope } = event.apiKey;
      if (createdByRequest.has(String(id)) || scope !== undefined || firstKeys.get(accountId)?.id === id)
        return undefined;
      return {
        method: "POST",
        path: "/api_keys",
        body: { account_id: accountId, key_name: name, api_key: keyOf(id) },
      };
    }
    case "ApiKeyRevoked":
      return withoutRequestSeqs.has(event.seq)
        ? { method: "DELETE", path: `/api_keys/${event.keyId}` }
        : undefined;
    case "FaultSet":
      return {
        method: "PUT",
        path: `/faults/${event.definition.name}`,
        body: renderers.fault(event.definition),
      };
    case "FaultRemoved":
      return { method: "DELETE", path: `/faults/${event.fault}` };
    case "AccountCreated": {
      const key = firstKeys.get(event.account.id);
      if (key !== undefined) return accountCall(event.account, key, keyOf);
      omitted.push(
        `account ${event.account.id}, created without a key at ${isoInstant(event.at)}: start the recording after it`,
      );
      return undefined;
    }
    case "WorldReset":
    case "WorldConfigured":
      omitted.push(`${event.type} at ${isoInstant(event.at)}: start the recording after it`);
      return undefined;
    case "FaultMatched":
    case "FaultHit":
      if (event.target.kind === "connection")
        omitted.push(
          `the count of fault ${event.fault}: a Postgres client matched it at ${isoInstant(event.at)}`,
        );
      return undefined;
    case "SpanBegan":
      return { method: "POST", path: "/spans", body: { kind: "begin", endpoint_id: event.endpointId } };
    case "SpanEnded":
      return spanEndCall(event);
    default:
      event.type satisfies CausedByNoControlCall;
      return undefined;
  }
}

function activityCall(body: object): object {
  return { method: "POST", path: "/activity", body };
}

/** The call that creates an account and its first key. */
function accountCall(
  { id, name, email, plan }: Account,
  key: ApiKey,
  keyOf: (keyId: number) => string,
): object {
  return {
    method: "POST",
    path: "/accounts",
    body: { id, name, email, plan, key_name: key.name, api_key: keyOf(key.id) },
  };
}

function spanEndCall(event: Extract<RecordedEvent, { readonly type: "SpanEnded" }>): object {
  const { endpointId, until, arrivals, blocks, load, data, continues } = event;
  const measured = omitUndefined({ blocks, load, data: data && spanDataBody(data), continues });
  const body = { kind: "end", endpoint_id: endpointId, until: isoInstant(until), arrivals, ...measured };
  return { method: "POST", path: "/spans", body };
}

function spanDataBody({ writtenBytes, transferredBytes, logicalSizeBytes }: SpanData): object {
  return omitUndefined({
    written_bytes: writtenBytes,
    transferred_bytes: transferredBytes,
    logical_size_bytes: logicalSizeBytes,
  });
}

/** Events that a public request or the world itself causes. */
type CausedByNoControlCall =
  | EventTypeOf<ContentNoun | "project" | "record" | "branch" | "compute" | "operation">
  | "WorldCreated"
  | "ApiKeyRemoved"
  | "ActivityDropped";

/** The console creates an account and its first key in one call. */
export function firstKeysByAccount(events: readonly RecordedEvent[]): ReadonlyMap<string, ApiKey> {
  const keys = new Map<string, ApiKey>();
  for (const [index, event] of events.entries()) {
    const next = events[index + 1];
    if (
      event.type === "AccountCreated" &&
      next?.type === "ApiKeyCreated" &&
      next.apiKey.accountId === event.account.id
    ) {
      keys.set(event.account.id, next.apiKey);
    }
  }
  return keys;
}
