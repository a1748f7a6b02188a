import { CODE_HEADER } from "../../http/errors.ts";
import { omitUndefined } from "../../kernel/omit-undefined.ts";
import {
  CannotRunError,
  CONNECTION_LOST,
  type TargetRequest,
  type TargetResponse,
} from "../../scenario/run/target.ts";
import { probeServer } from "../server-probe.ts";

export type RemoteServer = { readonly url: string; readonly controlToken?: string | undefined };

/** Calls both APIs of a running server. */
export class HttpConnection {
  /** The URL above /api/v2 and /_sim. */
  readonly base: string;
  readonly #controlToken: string | undefined;

  constructor({ url, controlToken }: RemoteServer) {
    this.base = url.replace(/\/(api\/v2|_sim)?\/?$/, "");
    this.#controlToken = controlToken;
  }

  /** Rejects unless the server has proved that it has the control token, which is not sent before. */
  async checkToken(): Promise<void> {
    const token = this.#controlToken;
    if (token === undefined) return;
    const server = await probeServer(this.base);
    if (server === undefined) throw new CannotRunError(`no answer from ${this.base}`);
    if (!server.hasToken(token))
      throw new CannotRunError(
        `the server at ${this.base} does not have this control token, which was therefore not sent; check --target and --control-token`,
      );
  }

  /** The body of the answer; rejects if the status is not 2xx. */
  async api(key: string, method: string, path: string, body?: unknown): Promise<unknown> {
    return this.#requestOrThrow({ surface: "api", method, path, body, key });
  }

  /** The body of the answer; rejects if the status is not 2xx. */
  async control(method: string, path: string, body?: unknown): Promise<unknown> {
    return this.#requestOrThrow({ surface: "control", method, path, body });
  }

  async fetch({ surface, method, path, body, key, signal }: TargetRequest): Promise<TargetResponse> {
    const token = surface === "control" ? this.#controlToken : key;
    const url = `${this.base}${surface === "api" ? "/api/v2" : "/_sim"}${path}`;
    try {
      const response = await fetch(url, {
        method,
        headers: omitUndefined({
          "Content-Type": "application/json",
          Authorization: token === undefined ? undefined : `Bearer ${token}`,
        }),
        ...omitUndefined({ body: body === undefined ? undefined : JSON.stringify(body), signal }),
      });
      const text = await response.text();
      return {
        status: response.status,
        body: text === "" ? undefined : JSON.parse(text),
        refusedWith: response.headers.get(CODE_HEADER) ?? undefined,
      };
    } catch (error) {
      const cause = error instanceof Error ? error.cause : undefined;
      const { code } = (cause as NodeJS.ErrnoException | undefined) ?? {};
      if (surface === "api" && (code === "ECONNRESET" || code === "UND_ERR_SOCKET")) return CONNECTION_LOST;
      throw new CannotRunError(
        `no answer from ${url}: ${cause instanceof Error ? cause.message : String(error)}`,
      );
    }
  }

  async #requestOrThrow(call: TargetRequest): Promise<unknown> {
    const { status, body } = await this.fetch(call);
    if (status < 300) return body;
    throw new CannotRunError(
      `${this.base} answered ${call.method} ${call.path} with ${status}: ${String((body as { message?: unknown } | null)?.message)}`,
    );
  }
}
