import { createNeonClient, raw } from "@neon/sdk";
import { expect, test } from "vitest";
import { SDK_FLOW, SDK_LEFT_OUT, type SdkState } from "../../support/clients/sdk-flow.ts";
import { createScene } from "../../support/document/contract-scene.ts";
import { EXAMPLES } from "../../support/document/operation-examples.ts";
import { loadPublicDocument } from "../../support/document/public-document.ts";
import { API_KEY, createDouble, type Double, type DoubleOptions } from "../../support/double/double.ts";

// The newest public SDK: its ergonomic client, which retries and waits, and its raw functions.

const document = loadPublicDocument();
const BASE_URL = "http://localhost/api/v2";
/** Real time with all clients; otherwise faster, because the client waits for operations. */
const FACTOR = process.env["STANDIN_TEST_CLIS"] === "all" ? 1 : 20;
const POLL_MS = 1000 / FACTOR;
const FLOW_TIMEOUT_MS = 600_000;

/** A double whose clock runs, so that operations end by themselves. */
async function runningDouble(options: DoubleOptions): Promise<Double> {
  const double = await createDouble(options);
  await runClock(double);
  return double;
}

async function runClock(double: Double): Promise<void> {
  const { status } = await double.sim("PUT", "/clock", { mode: "scaled", factor: FACTOR });
  expect(status).toBe(200);
}

/** The paths of all methods of the client, such as `postgres.roles.list`. */
function methodsOf(part: object, prefix = ""): string[] {
  const names = new Set([...Object.keys(part), ...Object.getOwnPropertyNames(Object.getPrototypeOf(part))]);
  return [...names].flatMap((name) => {
    const value = (part as Record<string, unknown>)[name];
    const path = `${prefix}${name}`;
    if (name === "constructor" || name.startsWith("__") || prefix.startsWith("client.")) return [];
    if (typeof value === "function") return name in Object.prototype ? [] : [path];
    return typeof value === "object" && value !== null ? methodsOf(value, `${path}.`) : [];
  });
}

// biome-ignore lint/suspicious/noExplicitAny: each method of the client returns its own shape
type SdkAnswer = any;

function methodAt(client: unknown, path: string): (params: unknown) => SdkAnswer {
  const names = path.split(".");
  const last = names.pop() ?? "";
  const owner = names.reduce<SdkAnswer>((part, name) => part[name], client);
  return owner[last].bind(owner);
}

test("the flow has every method of the client, or leaves it out for a reason", () => {
  const methods = methodsOf(createNeonClient({ apiKey: API_KEY }));
  const isCalled = (method: string) => SDK_FLOW.some(([called]) => called === method);
  const isLeftOut = (method: string) =>
    Object.values(SDK_LEFT_OUT).some((patterns) => patterns.some((pattern) => pattern.test(method)));
  expect(methods.length).toBeGreaterThan(90);
  expect(methods.filter((method) => isCalled(method) === isLeftOut(method))).toEqual([]);
  expect(SDK_FLOW.map(([method]) => method).filter((method) => !methods.includes(method))).toEqual([]);
});

test.each([{ profile: "2024" }, { profile: "2026" }] as const)(
  "in a world with %o, no method of the client fails while operations take time",
  async (options) => {
    const double = await runningDouble(options);
    const client = createNeonClient({
      apiKey: API_KEY,
      baseUrl: BASE_URL,
      fetch: async (request) => double.fetch(new Request(request)),
      waitForReadiness: true,
      wait: { pollIntervalMs: POLL_MS },
    });
    const state = { key: 0, operations: [] } as unknown as SdkState;
    const failures: string[] = [];
    for (const [method, params, keep] of SDK_FLOW) {
      const called = methodAt(client, method)(params(state));
      const result = await ("all" in called ? called.all() : called);
      if (result.error !== undefined) failures.push(`${method}: ${result.error.message}`);
      else keep?.(result.data, state);
    }
    await double.close();
    expect(failures).toEqual([]);
  },
  FLOW_TIMEOUT_MS,
);

/** The names of both differ in the case of acronyms, such as `Vpc` and `VPC`. */
const functions = new Map(
  Object.entries(raw).map(([name, called]) => [
    name.toLowerCase(),
    called as unknown as (input: unknown) => SdkAnswer,
  ]),
);
const isInSdk = ({ operationId }: { operationId: string }) => functions.has(operationId.toLowerCase());
const served = document.operations.filter(({ operationId }) => operationId in EXAMPLES);

test("the client has a function for every served operation of the document but one", () => {
  const lacking = served.filter((operation) => !isInSdk(operation));
  expect(lacking.map(({ operationId }) => operationId)).toEqual(["recoverProjectBranch"]);
});

test.each(served.filter(isInSdk).map(({ operationId }) => [operationId]))(
  "the raw function of %s succeeds at once where nothing else runs",
  async (operationId) => {
    const scene = await createScene();
    const [example] = EXAMPLES[operationId] ?? [];
    await example?.before?.(scene);
    await runClock(scene.double);
    const query = new URLSearchParams(example?.query?.(scene).slice(1));
    const body = example?.body?.(scene);
    const result = await functions.get(operationId.toLowerCase())?.({
      baseUrl: BASE_URL,
      auth: API_KEY,
      fetch: async (request: Request) => scene.double.fetch(request),
      path: { ...scene.ids, ...example?.ids?.(scene) },
      query: Object.fromEntries(query),
      // The client makes a form of its fields by itself.
      ...(body === undefined
        ? {}
        : { body: body instanceof FormData ? Object.fromEntries(body.entries()) : body }),
    });
    await scene.double.close();
    expect({ status: result.response.status, error: result.error }).toEqual({
      status: expect.toSatisfy((status: number) => status < 300),
      error: undefined,
    });
  },
);
