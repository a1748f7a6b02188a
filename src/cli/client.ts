import { resolve } from "node:path";
import type { Command } from "commander";
import { CliError } from "./cli-error.ts";
import { dataOption, option } from "./options.ts";
import { recallServer } from "./server-file.ts";

/** One call of a control API, by its path behind /_sim. */
export type Call = <T>(method: string, path: string, body?: unknown) => Promise<T>;

export type Target = { readonly data: string; readonly url?: string; readonly controlToken?: string };

/** Says which server a command talks to. */
export function addTargetOptions(command: Command): Command {
  return command
    .addOption(dataOption())
    .addOption(option("--url <url>", "server to talk to, like http://127.0.0.1:4620 (default: the one of --data)"))
    .addOption(option("--control-token <token>", "token of that server's control API"));
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
    const answer = (await response.json().catch(() => ({}))) as T & { message?: string };
    if (!response.ok) throw new CliError(answer.message ?? `the server answered ${response.status}`);
    return answer;
  }

  async #fetch(path: string, init: RequestInit): Promise<Response> {
    try {
      return await fetch(`${this.controlUrl}${path}`, init);
    } catch (error) {
      const cause = error instanceof Error && error.cause instanceof Error ? error.cause.message : String(error);
      throw new CliError(`the server at ${this.controlUrl} went away (${cause}); what it had committed is kept`);
    }
  }
}

/** The server that `target` means, if it answers. */
export async function findServer(target: Target): Promise<ControlClient | undefined> {
  const client = clientFor(target);
  if (client === undefined) return undefined;
  try {
    await fetch(`${client.controlUrl}/health/live`, { signal: AbortSignal.timeout(5_000) });
    return client;
  } catch {
    return undefined;
  }
}

export async function requireServer(target: Target): Promise<ControlClient> {
  const client = await findServer(target);
  if (client !== undefined) return client;
  const where = target.url ?? `the data directory ${resolve(target.data)}`;
  throw new CliError(
    `no server answers for ${where}; start one with: standin serve${target.url === undefined ? ` --data ${target.data}` : ""}`,
  );
}

function clientFor({ url, data, controlToken }: Target): ControlClient | undefined {
  if (url !== undefined) {
    const origin = url.replace(/\/(api\/v2|_sim)?\/?$/, "");
    return new ControlClient(`${origin}/_sim`, `${origin}/api/v2`, controlToken);
  }
  const server = recallServer(resolve(data));
  return server === undefined ? undefined : new ControlClient(server.control_url, server.api_url, controlToken ?? server.control_token);
}
