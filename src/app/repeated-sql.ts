import type { IncomingMessage, ServerResponse } from "node:http";
import type { Context } from "hono";
import { smallBody } from "../http/body.ts";
import { bodyEndedEarly } from "../http/request.ts";
import { MAX } from "../input-limits/limits.ts";
import { KnownUrls, knowableMessage } from "../platform-api/http/known-urls.ts";
import { type AnswerForm, writeAnswer } from "../platform-api/http/write-answer.ts";
import { plainAddress } from "../postgres/login/network-rules.ts";
import type { SqlResponse } from "../postgres/serverless/sql-over-http.ts";
import { type AnsweredSql, OK, type RunSql, SQL_HEADERS, SQL_LIMITS, textOf } from "./sql-route.ts";

type Options = AnswerForm & {
  readonly runSql: RunSql;
  /** Keeps the world open until the returned function is called. */
  readonly use: (world: string) => () => void;
  /** Is called with an exception that no answer can report. */
  readonly onBug: (error: unknown) => void;
};

type KnownUrl = { readonly world: string | undefined };

/**
 * Answers `POST /sql` without the framework, once the route has answered a request to the same URL. Everything but the
 * routing is done for each request. What is not a success is sent by the framework.
 */
export class RepeatedSql implements AnsweredSql {
  readonly #known = new KnownUrls<KnownUrl>();
  readonly #answered = new WeakMap<object, Promise<SqlResponse>>();
  readonly #options: Options;

  constructor(options: Options) {
    this.#options = options;
  }

  remember(context: Context): void {
    const incoming = knowableMessage(context);
    if (incoming === undefined || this.#known.has(incoming)) return;
    this.#known.set(incoming, { world: context.req.param("world") });
  }

  take({ env }: Context): Promise<SqlResponse> | undefined {
    const { incoming } = (env ?? {}) as { readonly incoming?: object };
    return incoming && this.#answered.get(incoming);
  }

  /** Answers the request, or calls `otherwise` for the framework to do it. */
  answer(incoming: IncomingMessage, outgoing: ServerResponse, otherwise: () => void): void {
    const known = hasSmallBody(incoming) ? this.#known.get(incoming) : undefined;
    if (known === undefined) otherwise();
    else void this.#answer(known, incoming, outgoing, otherwise);
  }

  async #answer(
    { world }: KnownUrl,
    incoming: IncomingMessage,
    outgoing: ServerResponse,
    otherwise: () => void,
  ): Promise<void> {
    let endUse: (() => void) | undefined;
    try {
      endUse = world === undefined ? undefined : this.#options.use(world);
      const answering = this.#run(world, incoming, outgoing);
      const answer = await answering.catch(() => undefined);
      if (answer?.status === OK) {
        const { status, headers, body } = answer;
        writeAnswer({ status, headers: { ...SQL_HEADERS, ...headers }, body }, outgoing, this.#options);
      } else {
        this.#answered.set(incoming, answering);
        otherwise();
      }
    } catch (error) {
      outgoing.destroy();
      this.#options.onBug(error);
    } finally {
      endUse?.();
    }
  }

  async #run(
    world: string | undefined,
    incoming: IncomingMessage,
    outgoing: ServerResponse,
  ): Promise<SqlResponse> {
    return this.#options.runSql({
      address: plainAddress(incoming.socket.remoteAddress),
      // Node joins repeated headers as the framework does, except for some that are not read here.
      headers: { get: (name) => (incoming.headers[name.toLowerCase()] as string | undefined) ?? null },
      readBody: () => readText(incoming, outgoing),
      world,
      onAbandoned: (cancel) => {
        if (outgoing.destroyed) cancel();
        outgoing.once("close", cancel);
        return () => outgoing.off("close", cancel);
      },
    });
  }
}

/** Whether its body needs no place among the large ones, and is not of unknown length. */
function hasSmallBody({ method, httpVersionMinor, headers }: IncomingMessage): boolean {
  return (
    method === "POST" &&
    httpVersionMinor === 1 &&
    headers["transfer-encoding"] === undefined &&
    Number(headers["content-length"]) <= MAX.sqlSmallBody
  );
}

/** The text of a small body. Throws `SqlError`. */
function readText(incoming: IncomingMessage, outgoing: ServerResponse): Promise<string> {
  // While the password was checked, the client may have left. Then nothing more is reported.
  if (outgoing.destroyed) return Promise.reject(bodyEndedEarly());
  const length = Number(incoming.headers["content-length"]);
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const finish = (bytes: Buffer) => {
      try {
        resolve(textOf(smallBody(bytes, undefined, SQL_LIMITS)));
      } catch (error) {
        reject(error);
      }
    };
    if (length === 0) {
      finish(Buffer.alloc(0));
      return;
    }
    const onClose = () => reject(bodyEndedEarly());
    outgoing.once("close", onClose);
    incoming.on("data", (chunk: Buffer) => {
      chunks.push(chunk);
      size += chunk.length;
      if (size !== length) return;
      outgoing.off("close", onClose);
      finish(chunks.length === 1 ? chunk : Buffer.concat(chunks));
    });
  });
}
