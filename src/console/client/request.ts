import { isReadOnly } from "./mode.ts";

/** The world of this page: `` for the default world, `/w/<name>` for another one. */
export const WORLD_BASE = /^\/w\/[^/]+/.exec(location.pathname)?.[0] ?? "";
export const WORLD_NAME = WORLD_BASE === "" ? "default" : WORLD_BASE.slice("/w/".length);

/** An answer of the server that is not 2xx. */
export class RequestFailed extends Error {
  override readonly name = "RequestFailed";
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

/** The server did not answer. */
export class ServerUnreachable extends Error {
  override readonly name = "ServerUnreachable";
}

/** In memory only: reloading the page asks for it again. */
let controlToken: string | undefined;

export function useToken(token: string): void {
  controlToken = token;
}

export function authorization(): Record<string, string> {
  return controlToken === undefined ? {} : { Authorization: `Bearer ${controlToken}` };
}

/** Calls of a read-only page that use POST: a question, and what a page of a run does. */
const ALLOWED = ["/whatif", "/whatif/advice", "/run"];

/** Calls the control API of this page's world by the path after `/_sim`. Rejects unless the answer is 2xx. */
export function control<T = unknown>(method: string, path: string, body?: unknown): Promise<T> {
  return controlOf(WORLD_BASE, method, path, body);
}

/** Calls the control API of a world by its name. */
export function controlIn<T = unknown>(
  world: string,
  method: string,
  path: string,
  body?: unknown,
): Promise<T> {
  return controlOf(world === "default" ? "" : `/w/${world}`, method, path, body);
}

export const getOf = <T>(world: string, path: string): Promise<T> => controlIn<T>(world, "GET", path);

async function controlOf<T>(base: string, method: string, path: string, body?: unknown): Promise<T> {
  if (isReadOnly && method !== "GET" && !ALLOWED.includes(path))
    throw new RequestFailed(403, "READ_ONLY", "this page is read-only (--console read-only)");
  let response: Response;
  try {
    response = await fetch(`${base}/_sim${path}`, {
      method,
      headers: {
        ...authorization(),
        ...(body === undefined ? {} : { "Content-Type": "application/json" }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  } catch {
    throw new ServerUnreachable("the server does not respond");
  }
  const text = await response.text();
  const parsed: unknown = text === "" ? undefined : parseJson(text);
  if (response.ok) return parsed as T;
  const { code = "", message = text } = (parsed ?? {}) as { code?: string; message?: string };
  throw new RequestFailed(response.status, code, message);
}

export const get = <T>(path: string): Promise<T> => control<T>("GET", path);

/** Calls the platform API for an account, by the path after `/api/v2`. */
export function platform<T = unknown>(
  accountId: string,
  method: string,
  path: string,
  body?: unknown,
): Promise<T> {
  return control<T>(method, `/accounts/${accountId}/api/v2${path}`, body);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The page of a world. */
export function hrefOfWorld(name: string): string {
  return name === "default" ? "/" : `/w/${name}/`;
}
