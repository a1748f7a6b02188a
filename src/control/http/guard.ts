import type { MiddlewareHandler } from "hono";
import { respondWithError } from "../../http/request.ts";
import { hashSecret, sameHash } from "../../worlds/secrets.ts";

export type GuardOptions = {
  /** Host names that this server goes by, beside the loopback ones. */
  readonly hosts: readonly string[];
  /** Needed where the server listens beyond loopback. */
  readonly token: string | undefined;
};

const LOOPBACK = new Set(["localhost", "127.0.0.1", "[::1]"]);

/**
 * The control API is for programs of this machine's user. A page of the web that this user looks at is none of them: a call from
 * another origin, and one under a foreign name (DNS rebinding), are refused.
 */
export function guard({ hosts, token }: GuardOptions): MiddlewareHandler {
  const names = new Set([...LOOPBACK, ...hosts.map(toHostHeader)]);
  const tokenHash = token === undefined ? undefined : hashSecret(token);
  return async (context, next) => {
    const host = context.req.header("host");
    // A page that has been led here under another name does not know the token.
    if (tokenHash === undefined && host !== undefined && !names.has(hostnameOf(host))) {
      return respondWithError(context, {
        status: 403,
        code: "FORBIDDEN",
        message: `Host: "${host}" is not this server; use one of ${[...names].join(", ")}`,
      });
    }
    const origin = context.req.header("origin");
    if (origin !== undefined && origin !== `http://${host}`) {
      return respondWithError(context, {
        status: 403,
        code: "FORBIDDEN",
        message: `Origin: calls from pages of ${origin} are refused`,
      });
    }
    if (tokenHash !== undefined && !isProbe(context.req.path)) {
      const provided = /^bearer +(\S+) *$/i.exec(context.req.header("authorization") ?? "")?.[1];
      if (provided === undefined || !sameHash(hashSecret(provided), tokenHash)) {
        return respondWithError(context, {
          status: 401,
          code: "UNAUTHORIZED",
          message: "the control API needs Authorization: Bearer <control token>",
        });
      }
    }
    return next();
  };
}

/** Orchestrators ask for health, and have no token. */
function isProbe(path: string): boolean {
  return /\/_sim\/health(\/(live|ready))?$/.test(path);
}

/** An IPv6 address stands in brackets in a Host header. */
function toHostHeader(host: string): string {
  return host.includes(":") ? `[${host.toLowerCase()}]` : host.toLowerCase();
}

function hostnameOf(host: string): string {
  return host.toLowerCase().replace(/:\d+$/, "");
}
