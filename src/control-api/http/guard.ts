import type { MiddlewareHandler } from "hono";
import { respondWithError } from "../../http/request.ts";
import { hashSecret, sameHash } from "../../worlds/secrets.ts";
import { requireWorld, setTeam, type TeamToken } from "./team-token.ts";

export type GuardOptions = {
  /** Host names of this server, in addition to the loopback ones. */
  readonly hosts: readonly string[];
  /** Required when the server listens beyond loopback. */
  readonly token: string | undefined;
  /** Tokens that are for some worlds and rights only; they require `token`. */
  readonly teams: readonly TeamToken[];
};

const LOOPBACK = new Set(["localhost", "127.0.0.1", "[::1]"]);

/**
 * The control API is for programs on this machine. A web page open in this user's browser must not call it:
 * requests from another origin, and requests with a foreign Host header (DNS rebinding), are rejected. Throws
 * `RequestError` for the token of a team that is for other worlds.
 */
export function guard({ hosts, token, teams }: GuardOptions): MiddlewareHandler {
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
      const team = provided === undefined ? undefined : teamWith(provided, teams);
      if (team !== undefined) {
        setTeam(context, team);
        requireWorld(context, context.req.param("world") ?? "default");
        return next();
      }
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

function teamWith(token: string, teams: readonly TeamToken[]): TeamToken | undefined {
  const provided = hashSecret(token);
  return teams.find(({ hash }) => sameHash(provided, hash));
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
