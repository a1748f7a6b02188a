import { setImmediate, setTimeout as sleep } from "node:timers/promises";
import type { AnyBody, ApiResponse } from "../answers/api-response.ts";
import { operationFinder } from "../document/public-client.ts";
import { loadPublicDocument } from "../document/public-document.ts";
import type { ServerClient } from "../server/running-server.ts";

/** Failures, and the number of calls. */
export type Findings = {
  readonly requests: number;
  /** Responses after which the client tried again, by status. */
  readonly retries: Readonly<Record<number, number>>;
  readonly serverErrors: readonly string[];
  readonly schemaFaults: readonly string[];
  readonly stuckOperations: readonly string[];
  readonly otherFaults: readonly string[];
};

/** Calls that the public document lacks: the operation that has the same response, if any. */
const UNDOCUMENTED: readonly (readonly [RegExp, string | undefined])[] = [
  [/^POST \/projects\/[^/]+\/branches\/[^/]+\/reset_to_parent$/, "restoreProjectBranch"],
  [/^GET \/projects\/[^/]+\/limits$/, undefined],
];

// C: the suite of the real platform tries ten times, every second. The clock here is faster.
const ATTEMPTS = 10;
const RETRY_AFTER_MS = 50;
const POLL_EVERY_MS = 20;
/** In real time: far longer than any operation takes. */
const STUCK_AFTER_MS = 60_000;

/** The API as a client that retries what it may retry, and validates every response. */
export class CheckedApi {
  readonly #client: ServerClient;
  readonly #document = loadPublicDocument();
  readonly #operationOf = operationFinder(this.#document);
  readonly #retries: Record<number, number> = {};
  readonly #serverErrors: string[] = [];
  readonly #schemaFaults: string[] = [];
  readonly #stuckOperations: string[] = [];
  readonly #otherFaults: string[] = [];
  #requests = 0;
  /** The time of the world at the latest response. */
  now = 0;

  constructor(client: ServerClient) {
    this.#client = client;
  }

  get findings(): Findings {
    return {
      requests: this.#requests,
      retries: this.#retries,
      serverErrors: this.#serverErrors,
      schemaFaults: this.#schemaFaults,
      stuckOperations: this.#stuckOperations,
      otherFaults: this.#otherFaults,
    };
  }

  addFault(fault: string): void {
    this.#otherFaults.push(fault);
  }

  /** Any response, without a retry. */
  async answer(method: string, path: string, body?: unknown): Promise<ApiResponse> {
    // A server closes connections that were idle for 5 s. On a busy machine this process may learn of it late: first
    // it reads what has arrived, so that it does not send the request on a closed connection.
    await setImmediate();
    const response = await this.#client.api(method, path, body);
    this.#check(method, path, response.status, response.body);
    this.now = Date.parse(response.headers.get("date") ?? "");
    return response;
  }

  /** The body of a successful response. Throws for any other, after the retries. */
  async call(method: string, path: string, body?: unknown): Promise<AnyBody> {
    for (let attempt = 1; ; attempt += 1) {
      const response = await this.answer(method, path, body);
      if (response.status < 300) return response.body;
      if (!mayRetry(response.status, response.body) || attempt === ATTEMPTS)
        throw new Error(`${method} ${path}: ${response.status} ${JSON.stringify(response.body)}`);
      this.#retries[response.status] = (this.#retries[response.status] ?? 0) + 1;
      await sleep(RETRY_AFTER_MS);
    }
  }

  /** Reports activity, in the role of the benchmarks. All must reach their computes. */
  async reportActivity(endpointIds: readonly string[], durationMs: number): Promise<void> {
    if (endpointIds.length === 0) return;
    const response = await this.#client.sim(
      "POST",
      "/activity",
      endpointIds.map((id) => ({ endpoint_id: id, duration_ms: durationMs, load: 0.2 })),
    );
    if (response.status !== 200)
      this.addFault(`activity: ${response.status} ${JSON.stringify(response.body)}`);
    for (const { endpoint_id, outcome, message } of response.body.activities ?? []) {
      if (outcome === "refused") this.addFault(`benchmark on ${endpoint_id}: ${message}`);
    }
  }

  /** Polls until every operation of the project has ended. */
  async waitForOperations(projectId: string): Promise<void> {
    const until = Date.now() + STUCK_AFTER_MS;
    for (;;) {
      const { operations } = await this.call("GET", `/projects/${projectId}/operations`);
      const unfinished = operations.filter(({ status }: { status: string }) => UNFINISHED.includes(status));
      if (unfinished.length === 0) return;
      if (Date.now() > until) {
        for (const { id, action, status } of unfinished)
          this.#stuckOperations.push(`${action} ${id} is ${status} in ${projectId}`);
        throw new Error(`operations of ${projectId} do not end`);
      }
      await sleep(POLL_EVERY_MS);
    }
  }

  #check(method: string, pathAndQuery: string, status: number, body: unknown): void {
    const path = pathAndQuery.split("?")[0] ?? "";
    this.#requests += 1;
    if (status >= 500) this.#serverErrors.push(`${method} ${path}: ${status} ${JSON.stringify(body)}`);
    const undocumented = UNDOCUMENTED.find(([pattern]) => pattern.test(`${method} ${path}`));
    const operationId = undocumented === undefined ? this.#operationOf(method, path) : undocumented[1];
    if (operationId !== undefined) {
      const faults = this.#document.answerFaults(operationId, status, body);
      this.#schemaFaults.push(...faults.map((fault) => `${operationId} ${status}: ${fault}`));
    } else if (undocumented === undefined) {
      this.#schemaFaults.push(`${method} ${path} is no operation of the document`);
    }
  }
}

const UNFINISHED: readonly string[] = ["scheduling", "running", "cancelling"];
const LOCKED = "project already has running conflicting operations, scheduling of new ones is prohibited";

/** C: on these responses, and no others, the suite of the real platform tries again. */
function mayRetry(status: number, body: { readonly message?: string }): boolean {
  return (
    (status === 423 && body.message === LOCKED) || (status === 422 && body.message === "branch not ready yet")
  );
}
