import { resolve } from "node:path";
import type { Command } from "commander";
import { readServerFile } from "../server/server-file.ts";
import { CliError } from "../terminal/cli-error.ts";
import { dataOption, envOption, worldOption } from "../terminal/option-parsers.ts";

/** One call of a control API, by its path behind /_sim. */
export type ControlCall = <T>(method: string, path: string, body?: unknown) => Promise<T>;

export type ServerTarget = {
  readonly data: string;
  readonly world: string;
  readonly url?: string;
  readonly controlToken?: string;
};

/** What the control API has said no to. */
export class ControlApiError extends CliError {
  readonly status: number;
  constructor(message: string, status: number) {
    super(message);
    this.status = status;
  }
}

/** Says which server a command talks to. */
export function addTargetOptions(command: Command): Command {
  return command
    .addOption(dataOption())
    .addOption(worldOption())
    .addOption(
      envOption("--url <url>", "server to talk to, like http://127.0.0.1:4620 (default: the one of --data)"),
    )
    .addOption(envOption("--control-token <token>", "token of that server's control API"));
}

/** The control API of a running server. */
export class ControlClient {
  readonly controlUrl: string;
  readonly apiUrl: string;
  readonly #token: string | undefined;

  constructor(controlUrl: string, apiUrl: string, token: string | undefined) {
    this.controlUrl = controlUrl;
    this.apiUrl = apiUrl;
    this.#token = token;
  }

  /** What the server answers, as JSON; its refusals become errors for the user. */
  async call<T>(method: string, path: string, body?: unknown): Promise<T> {
    const response = await this.#fetch(path, {
      method,
      headers: {
        ...(body === undefined ? {} : { "Content-Type": "application/json" }),
        ...(this.#token === undefined ? {} : { Authorization: `Bearer ${this.#token}` }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const result = (await response.json().catch(() => ({}))) as T & { message?: string };
    if (!response.ok)
      throw new ControlApiError(result.message ?? `the server answered ${response.status}`, response.status);
    return result;
  }

  async #fetch(path: string, init: RequestInit): Promise<Response> {
    try {
      return await fetch(`${this.controlUrl}${path}`, init);
    } catch (error) {
      const cause =
        error instanceof Error && error.cause instanceof Error ? error.cause.message : String(error);
      throw new CliError(
        `the server at ${this.controlUrl} went away (${cause}); what it had committed is kept`,
      );
    }
  }
}

/** The server that `target` means, if it answers. */
export async function findServer(target: ServerTarget): Promise<ControlClient | undefined> {
  const client = clientFor(target);
  if (client === undefined) return undefined;
  try {
    await fetch(`${client.controlUrl}/health/live`, { signal: AbortSignal.timeout(5_000) });
    return client;
  } catch {
    return undefined;
  }
}

export async function requireServer(target: ServerTarget): Promise<ControlClient> {
  const client = await findServer(target);
  if (client !== undefined) return client;
  const where = target.url ?? `the data directory ${resolve(target.data)}`;
  throw new CliError(
    `no server answers for ${where}; start one with: standin serve${target.url === undefined ? ` --data ${target.data}` : ""}`,
  );
}

/** The path of a world on its server. */
export function worldPath(world: string): string {
  return world === "default" ? "" : `/w/${world}`;
}

function clientFor({ url, data, world, controlToken }: ServerTarget): ControlClient | undefined {
  const server = url === undefined ? readServerFile(resolve(data)) : undefined;
  const serverUrl = url ?? server?.control_url;
  if (serverUrl === undefined) return undefined;
  // A URL that names a world means that one.
  const base = serverUrl.replace(/\/(api\/v2|_sim)?\/?$/, "") + worldPath(world);
  return new ControlClient(`${base}/_sim`, `${base}/api/v2`, controlToken ?? server?.control_token);
}
