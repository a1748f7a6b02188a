import { expect } from "vitest";
import type { ApiResponse } from "../answers/api-response.ts";
import { API_KEY } from "../double/double.ts";
import { pathOf, type Scene, send } from "./contract-scene.ts";
import { EXAMPLES } from "./operation-examples.ts";
import type { DocumentedOperation, PublicDocument } from "./public-document.ts";

/** The difference of a request from the first example of the operation. */
export type RequestDifference = {
  readonly ids?: Readonly<Record<string, string>>;
  readonly query?: string;
  /** A string is sent as it is. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
};

/** Sends the first example of the operation with the difference. */
export function sendExample(
  scene: Scene,
  operation: DocumentedOperation,
  difference: RequestDifference = {},
): Promise<ApiResponse> {
  const example = EXAMPLES[operation.operationId]?.[0] ?? {};
  const ids = { ...scene.ids, ...example.ids?.(scene), ...difference.ids };
  const body = "body" in difference ? difference.body : example.body?.(scene);
  return send(
    scene.double,
    operation.method,
    pathOf(operation, ids, difference.query ?? example.query?.(scene)),
    {
      body:
        typeof body === "string" || body === undefined || body instanceof FormData
          ? body
          : JSON.stringify(body),
      headers: difference.headers ?? {
        Authorization: `Bearer ${API_KEY}`,
        ...(body === undefined || body instanceof FormData ? {} : { "Content-Type": "application/json" }),
      },
    },
  );
}

/** Phrases of zod's own messages, which are written for programmers. */
export const ZOD_TEXT =
  /Invalid [\w-]+|Too (big|small)|Unrecognized key|expected \w+, received|expected \w+ to (be|have)/;

/** Checks that the answer is an error as documented and that the world has not changed. */
export async function expectRejected(
  document: PublicDocument,
  scene: Scene,
  operation: DocumentedOperation,
  difference: RequestDifference,
  expected: { readonly status: number; readonly code?: string; readonly message?: string | RegExp },
): Promise<ApiResponse> {
  const before = await worldText(scene);
  const response = await sendExample(scene, operation, difference);
  const { status, body, headers } = response;
  expect({
    difference,
    status,
    body,
    faults: document.answerFaults(operation.operationId, status, body),
  }).toMatchObject({
    status: expected.status,
    faults: [],
  });
  if (expected.code !== undefined) expect(body.code).toBe(expected.code);
  if (status === 400) expect(body.message).not.toMatch(ZOD_TEXT);
  if (typeof expected.message === "string") expect(body.message).toBe(expected.message);
  if (expected.message instanceof RegExp) expect(body.message).toMatch(expected.message);
  expect(headers.get("content-type")).toBe("application/json");
  // S: the 404 of a branch's storage has a reason instead of an id.
  if (!Object.hasOwn(body, "reason")) expect(headers.get("x-request-id")).toBe(body.request_id);
  expect(await worldText(scene)).toBe(before);
  return response;
}

async function worldText({ double }: Scene): Promise<string> {
  return JSON.stringify((await double.sim("GET", "/state")).body);
}
