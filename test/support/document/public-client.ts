import { createApiClient } from "@neondatabase/api-client";
import type { AnyBody } from "../answers/api-response.ts";
import { withReason } from "../answers/with-reason.ts";
import { loadPublicDocument, type PublicDocument } from "./public-document.ts";

export type PublicClient = ReturnType<typeof createApiClient>;

/** An error answer as the public client reports it. */
export type ErrorResponse = { readonly status: number; readonly code: string; readonly message: string };

/** Finds the operation of a request in the public document, by its path below the base URL, without a query. */
export function operationFinder(
  document: PublicDocument,
): (method: string, path: string) => string | undefined {
  // A literal path segment takes precedence over a parameter.
  const patterns = [...document.operations]
    .sort((a, b) => a.path.split("{").length - b.path.split("{").length)
    .map(({ operationId, method, path }) => ({
      operationId,
      method,
      pattern: new RegExp(`^${path.replaceAll(/\{\w+\}/g, "[^/]+")}$`),
    }));
  return (method, path) =>
    patterns.find((candidate) => candidate.method === method && candidate.pattern.test(path))?.operationId;
}

/** Creates public clients and validates each of their answers against the public document. */
export function checkedClients(apiUrl: string) {
  const document = loadPublicDocument();
  const operationOf = operationFinder(document);
  const faults: string[] = [];
  const checkResponse = (method = "", url = "", status: number, body: unknown) => {
    const found = operationOf(method.toUpperCase(), url);
    if (found === undefined) faults.push(`${method} ${url} is no operation of the document`);
    else
      faults.push(
        ...document.answerFaults(found, status, body).map((fault) => `${found} ${status}: ${fault}`),
      );
  };
  return {
    /** Violations of the document in the answers so far. */
    faults: faults as readonly string[],
    client(apiKey: string): PublicClient {
      // The double is local and must not be called through a proxy.
      const client = createApiClient({ apiKey, baseURL: apiUrl, proxy: false });
      client.instance.interceptors.response.use(
        (response) => {
          checkResponse(response.config.method, response.config.url, response.status, response.data);
          return response;
        },
        (error) => {
          const { config, response } = error;
          if (response !== undefined)
            checkResponse(config.method, config.url, response.status, response.data);
          throw error;
        },
      );
      return client;
    },
  };
}

/** The error of a call. Throws if the call succeeds. */
export async function errorOf(call: Promise<unknown>): Promise<ErrorResponse> {
  const outcome = await call.then(
    () => undefined,
    (error) => error.response ?? error,
  );
  if (outcome === undefined) throw new Error("the call succeeded");
  if (outcome instanceof Error) throw outcome;
  const { status, headers, data } = outcome;
  const { code, message } = withReason(status, (name) => headers[name], data);
  return { status, code, message };
}

/** A call of the control API of a double in another process. */
export async function control(
  controlUrl: string,
  method: string,
  path: string,
  body?: unknown,
): Promise<AnyBody> {
  const response = await fetch(`${controlUrl}${path}`, {
    method,
    ...(body === undefined
      ? {}
      : { body: JSON.stringify(body), headers: { "Content-Type": "application/json" } }),
  });
  const responseBody = (await response.json()) as AnyBody;
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${JSON.stringify(responseBody)}`);
  return responseBody;
}
