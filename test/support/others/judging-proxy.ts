import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { gunzipSync } from "node:zlib";
import { createAdaptorServer } from "@hono/node-server";
import { operationFinder } from "../document/public-client.ts";
import { loadPublicDocument } from "../document/public-document.ts";

/**
 * `passed` and `refused` (an error) fit the public document, whose schemas are closed. `unlisted` operations
 * are not in it.
 */
type Verdict = "passed" | "refused" | "different" | "unlisted";

export type JudgedCall = {
  /** `listProjects`; method and path of an unlisted operation. */
  readonly operation: string;
  readonly status: number;
  readonly verdict: Verdict;
  /** Differences between the answer and the document. */
  readonly faults: readonly string[];
};

type Answer = (request: Request) => Response | Promise<Response>;

const BASE_PATH = "/api/v2";
/** The first bytes of a compressed body. */
const GZIP = Buffer.from([0x1f, 0x8b]);
const document = loadPublicDocument();
const operationOf = operationFinder(document);

/** Stands between a client and the API, and judges each answer. */
export class JudgingProxy {
  readonly url: string;
  readonly #server: ReturnType<typeof createAdaptorServer>;
  readonly #calls: JudgedCall[];

  private constructor(server: ReturnType<typeof createAdaptorServer>, calls: JudgedCall[]) {
    this.#server = server;
    this.#calls = calls;
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}${BASE_PATH}`;
  }

  /** `answer` is the API. */
  static async inFrontOf(answer: Answer): Promise<JudgingProxy> {
    const calls: JudgedCall[] = [];
    const server = createAdaptorServer({
      fetch: async (request: Request) => {
        const response = await answer(request);
        const text = await plainText(response);
        calls.push(judge(request, response, text));
        const headers = new Headers(response.headers);
        for (const name of ["content-encoding", "content-length", "transfer-encoding"]) headers.delete(name);
        return new Response(isWithoutBody(response.status) ? null : text, {
          status: response.status,
          headers,
        });
      },
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return new JudgingProxy(server, calls);
  }

  /** In front of a server. */
  static inFrontOfServer(apiUrl: string): Promise<JudgingProxy> {
    return JudgingProxy.inFrontOf(async (request) => {
      const { pathname, search } = new URL(request.url);
      const body = await request.text();
      const headers = new Headers(request.headers);
      for (const name of ["host", "connection", "content-length", "transfer-encoding"]) headers.delete(name);
      return fetch(`${new URL(apiUrl).origin}${pathname}${search}`, {
        method: request.method,
        headers,
        redirect: "manual",
        ...(body === "" ? {} : { body }),
      });
    });
  }

  /** The calls since the last call of this function. */
  take(): readonly JudgedCall[] {
    return this.#calls.splice(0);
  }

  async close(): Promise<void> {
    this.#server.close();
    if ("closeAllConnections" in this.#server) this.#server.closeAllConnections();
    await once(this.#server, "close");
  }
}

function judge(request: Request, response: Response, text: string): JudgedCall {
  const { status } = response;
  const path = new URL(request.url).pathname.slice(BASE_PATH.length);
  const operation = operationOf(request.method, path);
  if (operation === undefined)
    return { operation: `${request.method} ${path}`, status, verdict: "unlisted", faults: [] };
  const isJson = response.headers.get("content-type")?.startsWith("application/json") ?? false;
  const faults = faultsOf(operation, status, text, isJson);
  return { operation, status, verdict: faults.length > 0 ? "different" : verdictOf(status), faults };
}

function faultsOf(operation: string, status: number, text: string, isJson: boolean): readonly string[] {
  if (!isJson || text === "") return document.answerFaults(operation, status, text);
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    return ["the body is not JSON"];
  }
  return document.answerFaults(operation, status, body);
}

/** The document has no answer 5xx but 501, by which an operation says that it is not imitated. */
function verdictOf(status: number): Verdict {
  if (status < 400) return "passed";
  return status < 500 || status === 501 ? "refused" : "different";
}

/** The API compresses answers for clients that accept it. `fetch` decompresses them, and keeps the header. */
async function plainText(response: Response): Promise<string> {
  const bytes = Buffer.from(await response.arrayBuffer());
  const isCompressed = bytes.subarray(0, GZIP.length).equals(GZIP);
  return (isCompressed ? gunzipSync(bytes) : bytes).toString("utf8");
}

function isWithoutBody(status: number): boolean {
  return status === 204 || status === 304;
}
