import type { Context } from "hono";
import { RequestError } from "../../http/request.ts";
import { listNames } from "../../kernel/text.ts";
import type { ControlRoute } from "../document/answers.ts";
import { RIGHT_OF_CALL, type TeamRight } from "./rights.ts";

/** A token of the control API that is for some worlds and rights only. */
export type TeamToken = {
  /** How messages call it. */
  readonly name: string;
  /** The SHA-256 of the token. */
  readonly hash: string;
  /** Names of worlds; with `*` at the end, all that begin so. */
  readonly worlds: readonly string[];
  readonly may: readonly TeamRight[];
};

const VARIABLE = "teamToken";

/** Remembers whose token a request has. */
export function setTeam(context: Context, team: TeamToken): void {
  context.set(VARIABLE, team);
}

/** `undefined` if the request has the control token, or the server requires none. */
export function teamOf(context: Context): TeamToken | undefined {
  return context.get(VARIABLE);
}

export function isWorldOf({ worlds }: TeamToken, world: string): boolean {
  return worlds.some((name) => (name.endsWith("*") ? world.startsWith(name.slice(0, -1)) : world === name));
}

/** Throws `RequestError` if the token of the request may not make this call. */
export function requireRightFor(context: Context, call: ControlRoute): void {
  const right = RIGHT_OF_CALL[call];
  if (right === "operate") {
    const team = teamOf(context);
    if (team !== undefined)
      throw forbidden(
        `${call} concerns the whole server: it requires the control token, not that of ${team.name}`,
      );
  } else requireRight(context, right);
}

/** Throws `RequestError` if the token of the request lacks a right. */
export function requireRight(context: Context, right: TeamRight): void {
  const team = teamOf(context);
  if (team === undefined || team.may.includes(right)) return;
  throw forbidden(
    `this call requires the right "${right}", which the token of ${team.name} does not have; it has ${listNames(team.may)}`,
  );
}

/** Throws `RequestError` if the token of the request is for other worlds. */
export function requireWorld(context: Context, world: string): void {
  const team = teamOf(context);
  if (team === undefined || isWorldOf(team, world)) return;
  throw forbidden(
    `the token of ${team.name} is not for the world "${world}"; it is for ${listNames(team.worlds)}`,
  );
}

function forbidden(message: string): RequestError {
  return new RequestError({ status: 403, code: "FORBIDDEN", message });
}
