import { resolve } from "node:path";
import type { Command } from "commander";
import { probeServer } from "../../app/server-probe.ts";
import { readServerFile } from "../server/server-file.ts";
import { CliError } from "../terminal/cli-error.ts";
import { parseServerUrlOption } from "../terminal/option-parsers.ts";
import { controlTokenOption, dataOption, envOption, worldOption } from "../terminal/options.ts";

/** Calls the control API; `path` is relative to /_sim. */
export type ControlCall = <T>(method: string, path: string, body?: unknown) => Promise<T>;

export type ServerTarget = {
  readonly data: string;
  readonly world: string;
  readonly url?: string;
  readonly controlToken?: string;
  /** What to do if the server belongs to another user (default: select it with options). */
  readonly advice?: string;
};

/** An error response of the control API. */
export class ControlApiError extends CliError {
  readonly status: number;
  constructor(message: string, status: number) {
    super(message);
    this.status = status;
  }
}

/** Options that select the server and the world of a command. */
export function addTargetOptions(command: Command): Command {
  return command
    .addOption(dataOption())
    .addOption(worldOption())
    .addOption(
      envOption(
        "--url <url>",
        "URL of the server, such as http://127.0.0.1:4620 (default: the server running on --data)",
      ).argParser(parseServerUrlOption),
    )
    .addOption(controlTokenOption());
}

/** The control API of a running server. */
export class ControlClient {
  readonly controlUrl: string;
  readonly apiUrl: string;
  readonly token: string | undefined;

  constructor(controlUrl: string, apiUrl: string, token: string | undefined) {
    this.controlUrl = controlUrl;
    this.apiUrl = apiUrl;
    this.token = token;
  }

  /** `call`, bound to this server. */
  readonly control: ControlCall = (method, path, body) => this.call(method, path, body);

  /** Returns the JSON response. Error responses are thrown as `ControlApiError`. */
  async call<T>(method: string, path: string, body?: unknown, signal?: AbortSignal): Promise<T> {
    const response = await this.#fetch(path, {
      method,
      headers: {
        ...(body === undefined ? {} : { "Content-Type": "application/json" }),
        ...(this.token === undefined ? {} : { Authorization: `Bearer ${this.token}` }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(signal === undefined ? {} : { signal }),
    });
    const result = (await response.json().catch(() => ({}))) as T & { message?: string };
    if (!response.ok)
      throw new ControlApiError(
        result.message ?? `the server responded with status ${response.status}`,
        response.status,
      );
    return result;
  }

  async #fetch(path: string, init: RequestInit): Promise<Response> {
    try {
      return await fetch(`${this.controlUrl}${path}`, init);
    } catch (error) {
      if (init.signal?.aborted === true) throw new CliError("interrupted; nothing was changed");
      const cause =
        error instanceof Error && error.cause instanceof Error ? error.cause.message : String(error);
      throw new CliError(
        `lost the connection to the server at ${this.controlUrl} (${cause}); committed changes are stored`,
      );
    }
  }
}

/** The server selected by `target`, or `undefined` if it does not respond. */
export async function findServer(target: ServerTarget): Promise<ControlClient | undefined> {
  const { data, world, controlToken } = target;
  const found = target.url === undefined ? readServerFile(resolve(data), target.advice) : undefined;
  const serverUrl = target.url ?? found?.control_url;
  if (serverUrl === undefined) return undefined;
  // Remove the path of an API; a world path such as /w/name stays.
  const base = serverUrl.replace(/\/(api\/v2|_sim)?\/?$/, "");
  const token = controlToken ?? found?.control_token;
  const live = await probeServer(base);
  // A killed server leaves its file, and another program may have its port now.
  if (live === undefined || (found !== undefined && live.pid !== found.pid)) return undefined;
  if (token !== undefined && !live.hasToken(token))
    throw new CliError(
      `the server at ${base} does not have this control token, which was therefore not sent; check --control-token${found === undefined ? " and --url" : ""}`,
    );
  return new ControlClient(`${base}${worldPath(world)}/_sim`, `${base}${worldPath(world)}/api/v2`, token);
}

export async function requireServer(target: ServerTarget): Promise<ControlClient> {
  const client = await findServer(target);
  if (client !== undefined) return client;
  const where = target.url ?? target.data;
  throw new CliError(
    `no server is running at ${where}; start one with: standin serve${target.url === undefined ? ` --data ${target.data}` : ""}`,
  );
}

/** The path of a world on its server. */
export function worldPath(world: string): string {
  return world === "default" ? "" : `/w/${world}`;
}
