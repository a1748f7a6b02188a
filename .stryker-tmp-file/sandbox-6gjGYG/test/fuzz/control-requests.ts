// @ts-nocheck
import fc from "fast-check";
import { malformed, mutated } from "../support/requests/bodies.ts";
import type { RandomRequest } from "../support/requests/random-requests.ts";

/** A request to any route of the control API. */
export function controlRequest(routes: readonly string[]): fc.Arbitrary<RandomRequest> {
  const name = fc.constantFrom(...CONTROL_FIELDS);
  const value = fc.oneof(
    fc.constantFrom(
      "1s",
      "manual",
      "{endpoint}",
      "{project}",
      "*",
      "2026-01-02T00:00:00Z",
      1,
      -1,
      true,
      null,
      "kept",
    ),
    fc.jsonValue({ maxDepth: 2 }),
  );
  const body = fc.oneof(
    {
      weight: 4,
      arbitrary: fc
        .dictionary(name, value, { maxKeys: 4 })
        .chain(mutated)
        .map((inner) => JSON.stringify(inner)),
    },
    { weight: 1, arbitrary: malformed },
  );
  return fc
    .record({
      route: fc.constantFrom(...routes),
      body,
      segment: fc.constantFrom("{endpoint}", "kept", "1", "%00", "__proto__"),
    })
    .map(({ route, body: text, segment }) => {
      const [method = "", path = ""] = route.split(" ");
      return {
        method,
        path: path.replaceAll(/:\w+/g, segment),
        query: "",
        headers: { "Content-Type": "application/json" },
        body: method === "GET" ? undefined : text,
      };
    });
}

/** Fields of the bodies of the control API. */
const CONTROL_FIELDS = [
  ...[
    "by",
    "to",
    "next",
    "mode",
    "factor",
    "endpoint_id",
    "kind",
    "duration_ms",
    "at",
    "connection_id",
    "load",
  ],
  ...[
    "id",
    "name",
    "email",
    "plan",
    "key_name",
    "api_key",
    "account_id",
    "until",
    "timeout",
    "keep",
    "from",
    "seed",
  ],
  ...[
    "clock",
    "latency",
    "error",
    "operation",
    "policy",
    "matches",
    "share",
    "status",
    "retry_after",
    "faults",
  ],
] as const;
