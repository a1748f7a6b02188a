import type { MiddlewareHandler } from "hono";
import { respondWithError } from "../../http/request.ts";
import { hashSecret, sameHash } from "../../worlds/secrets.ts";

export type GuardOptions = {
  /** Host names of this server, in addition to the loopback ones. */
  readonly hosts: readonly string[];
  /** Required when the server listens beyond loopback. */
  readonly token: string | undefined;
};

const LOOPBACK = new Set(["localhost", "127.0.0.1", "[::1]"]);

/**
 * The control API is for programs on this machine. A web page open in this user's browser must not call it:
 * requests from another origin, and requests with a foreign Host header (DNS rebinding), are rejected.
 */
export function guard({ hosts, token }: GuardOptions): MiddlewareHandler {
  const names = new Set([...LOOPBACK, ...hosts.map(toHostHeader)]);
  const tokenHash = token === undefined ? undefined : hashSecret(token);
  return async (context, next) => {
    const host = context.req.header("host");
    // With a token the Host check is not needed: a page that uses DNS rebinding does not know the token.
    if (tokenHash === undefined && host !== undefined && !names.has(hostnameOf(host))) {
      return respondWithError(context, {
        status: 403,
        code: "FORBIDDEN",
        message: `Host: "${host}" is not a name of this server; use one of ${[...names].join(", ")}`,
      });
    }
    const origin = context.req.header("origin");
    if (origin !== undefined && origin !== `http://${host}`) {
      return respondWithError(context, {
        status: 403,
        code: "FORBIDDEN",
        message: `Origin: requests from web pages of ${origin} are rejected`,
      });
    }
    if (tokenHash !== undefined && !isProbe(context.req.path)) {
      const provided = /^bearer +(\S+) *$/i.exec(context.req.header("authorization") ?? "")?.[1];
      if (provided === undefined || !sameHash(hashSecret(provided), tokenHash)) {
        return respondWithError(context, {
          status: 401,
          code: "UNAUTHORIZED",
          message: "the control API requires the header Authorization: Bearer <control token>",
        });
      }
    }
    return next();
  };
}

/** Health probes of orchestrators have no token. Those of a named world would tell that it exists. */
function isProbe(path: string): boolean {
  return /^\/_sim\/health(\/(live|ready))?$/.test(path);
}

/** A Host header has IPv6 addresses in brackets. */
function toHostHeader(host: string): string {
  return host.includes(":") ? `[${host.toLowerCase()}]` : host.toLowerCase();
}

function hostnameOf(host: string): string {
  return host.toLowerCase().replace(/:\d+$/, "");
}
