import * as z from "zod";
import { documented, duration, strictObject } from "../../traffic/generated/pattern-fields.ts";
import { captureFrom } from "./capture.ts";
import { label } from "./world-schema.ts";

const retry = strictObject({
  on: z
    .array(z.int().min(400).max(599))
    .min(1)
    .default([423])
    .meta(documented("statuses after which the request is repeated (default: [423])", [423, 503])),
  every: duration.default(3_000).meta(documented("time between two attempts (default: 3s)", "1s")),
  times: z
    .int()
    .min(1)
    .max(1_000)
    .default(5)
    .meta(documented("largest number of repetitions (default: 5)", 10)),
});

const STATUS_RULE = "must be an HTTP status such as 201, or 0 for a lost connection";
const status = z.union([z.literal(0), z.int(STATUS_RULE).min(100, STATUS_RULE).max(599, STATUS_RULE)], {
  error: STATUS_RULE,
});

export const METHODS = ["GET", "POST", "PATCH", "PUT", "DELETE"] as const;

/** A call of the imitated API. */
export const requestStep = strictObject({
  method: z.enum(METHODS).default("GET").meta(documented("HTTP method (default: GET)", "POST")),
  path: z
    .string()
    .startsWith("/")
    .meta(
      documented(
        "path after /api/v2; {shop}, {shop/main} and {shop/main/primary} become ids",
        "/projects/{shop}/branches",
        "/projects/{shop}/endpoints/{shop/main/primary}",
      ),
    ),
  body: z
    .unknown()
    .optional()
    .meta(documented("body of the request, sent as JSON", { branch: { name: "dev" } })),
  as: label
    .optional()
    .meta(documented("the account whose key is used (default: the first account)", "hobby")),
  key: z.string().optional().meta(documented("another key, such as a captured one", "{key}")),
  status: z
    .union([status, z.array(status)], { error: `${STATUS_RULE}, or a list of them` })
    .optional()
    .meta(
      documented("expected status (default: any 2xx); 0 means the connection is lost", 201, [200, 423], 0),
    ),
  answer: z
    .record(z.string(), z.unknown())
    .optional()
    .meta(documented("expected values in the answer, by path", { "branch.name": "main" })),
  capture: captureFrom("answer", { dev: "branch.id" }),
  retry: retry
    .optional()
    .meta(documented("repeats the request, as clients do", { on: [423], every: "3s", times: 5 })),
});
