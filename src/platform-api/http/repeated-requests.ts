import type { IncomingMessage, ServerResponse } from "node:http";
import type { Context } from "hono";
import type { IncomingCall } from "../../http/request.ts";
import { actingAccountId } from "./acting-account.ts";
import type { Decided, RouteResponse } from "./incoming-request.ts";
import { redactedPath } from "./request-journal.ts";
import type { Answer } from "./send-response.ts";

const MOST_URLS = 1_000;
/** Characters. Longer URLs are rarely repeated. */
const LONGEST_URL = 1_000;

type Work = {
  /** Never rejects. */
  readonly decide: (call: IncomingCall) => Decided | Promise<Decided>;
  readonly answer: (call: IncomingCall, decided: Decided, result: RouteResponse) => Answer | Promise<Answer>;
};

/** What routing has found for a URL. It depends on nothing else. */
type KnownUrl = Work & {
  readonly url: string;
  readonly routePath: string;
  readonly params: Readonly<Record<string, string>>;
  readonly query: Record<string, string>;
  readonly loggedPath: string;
};

type Options = {
  /** Prevents that a world is closed until the returned function is called. */
  readonly use: (world: string) => () => void;
  /** How the names of headers are spelled. */
  readonly spell: (name: string) => string;
  /** Headers of all answers of this server. */
  readonly headers: Readonly<Record<string, string>>;
  /** Is called with an exception that no answer can report. */
  readonly onBug: (error: unknown) => void;
};

/**
 * Answers `GET` requests whose URL was answered before without the framework: it knows their route and their parsed
 * parameters. Everything else is done for each request: authentication, rate limits, faults, the handler of the
 * route, the request log. What is not a success is sent by the framework.
 */
export class RepeatedRequests {
  readonly #known = new Map<string, KnownUrl>();
  readonly #decided = new WeakMap<object, Decided>();
  readonly #options: Options;

  constructor(options: Options) {
    this.#options = options;
  }

  /** Called after a success of `context`. `work` must do the same for another request to the same URL. */
  remember(context: Context, work: Work): void {
    const { incoming } = (context.env ?? {}) as { readonly incoming?: IncomingMessage };
    const { method, url, routePath } = context.req;
    if (incoming === undefined || method !== "GET" || url.length > LONGEST_URL) return;
    // Another surface may have passed the request on, with another URL.
    if (actingAccountId(context) !== undefined || url !== `http://${incoming.headers.host}${incoming.url}`)
      return;
    const key = keyOf(incoming);
    if (this.#known.has(key)) return;
    const [oldest] = this.#known.size < MOST_URLS ? [] : this.#known.keys();
    if (oldest !== undefined) this.#known.delete(oldest);
    const params = { ...context.req.param() };
    const query = context.req.query();
    const loggedPath = redactedPath(url);
    this.#known.set(key, { ...work, url, routePath, params, query, loggedPath });
  }

  /** Answers the request, or calls `otherwise` for the framework to do it. */
  answer(incoming: IncomingMessage, outgoing: ServerResponse, otherwise: () => void): void {
    const known = canBeKnown(incoming) ? this.#known.get(keyOf(incoming)) : undefined;
    if (known === undefined) {
      otherwise();
      return;
    }
    const { world } = known.params;
    let endUse: (() => void) | undefined;
    let later: Promise<void> | undefined;
    try {
      endUse = world === undefined ? undefined : this.#options.use(world);
      const call = new RepeatedCall(known, incoming);
      const decided = known.decide(call);
      const answer = decided instanceof Promise ? undefined : answerOf(call, decided);
      if (answer === undefined || answer instanceof Promise)
        later = this.#answerLater(call, decided, answer, outgoing, otherwise);
      else this.#write(answer, outgoing);
    } catch (error) {
      this.#fail(error, outgoing);
    } finally {
      if (later === undefined) endUse?.();
    }
    later?.catch((error) => this.#fail(error, outgoing)).finally(() => endUse?.());
  }

  /** The framework would answer with 500. Here, an exception would end the process. */
  #fail(error: unknown, outgoing: ServerResponse): void {
    outgoing.destroy();
    this.#options.onBug(error);
  }

  /** What `answer` has found out about this request, if it could not send it. */
  take({ env }: Context): Decided | undefined {
    const { incoming } = (env ?? {}) as { readonly incoming?: object };
    return incoming && this.#decided.get(incoming);
  }

  async #answerLater(
    call: RepeatedCall,
    deciding: Decided | Promise<Decided>,
    answering: Answer | Promise<Answer> | undefined,
    outgoing: ServerResponse,
    otherwise: () => void,
  ): Promise<void> {
    const decided = await deciding;
    const answer = await withoutBug(answering ?? answerOf(call, decided));
    if (answer !== undefined) return this.#write(answer, outgoing);
    this.#decided.set(call.env.incoming, decided);
    otherwise();
  }

  #write({ status, headers, body }: Answer, outgoing: ServerResponse): void {
    const { headers: ofServer, spell } = this.#options;
    const lines: string[] = [];
    for (const name in headers) lines.push(spell(name), headers[name] as string);
    for (const name in ofServer) lines.push(spell(name), ofServer[name] as string);
    if (body !== null && headers["Content-Length"] === undefined)
      lines.push("Content-Length", String(Buffer.byteLength(body)));
    outgoing.writeHead(status, lines);
    outgoing.end(body ?? undefined);
  }
}

/** Reads a request as `Context` does. */
class RepeatedCall implements IncomingCall {
  readonly known: KnownUrl;
  readonly env: { readonly incoming: IncomingMessage };
  readonly method = "GET";

  constructor(known: KnownUrl, incoming: IncomingMessage) {
    this.known = known;
    this.env = { incoming };
  }

  get req(): this {
    return this;
  }

  get url(): string {
    return this.known.url;
  }

  get loggedPath(): string {
    return this.known.loggedPath;
  }

  get routePath(): string {
    return this.known.routePath;
  }

  header(name: string): string | undefined {
    return this.env.incoming.headers[name] as string | undefined;
  }

  param(name: string): string | undefined {
    return this.known.params[name];
  }

  query(): Record<string, string> {
    return this.known.query;
  }
}

/** `undefined`: the framework must answer. It also reports a bug that would throw here. */
function answerOf(call: RepeatedCall, decided: Decided): Answer | Promise<Answer> | undefined {
  const { result } = decided;
  if (!("status" in result) || result.status !== 200 || "code" in result) return undefined;
  try {
    return call.known.answer(call, decided, result);
  } catch {
    return undefined;
  }
}

async function withoutBug(answer: Answer | Promise<Answer> | undefined): Promise<Answer | undefined> {
  try {
    return await answer;
  } catch {
    return undefined;
  }
}

function keyOf({ headers, url }: IncomingMessage): string {
  // No URL has a space, so no two pairs have the same key.
  return `${headers.host} ${url}`;
}

/** A body would have to be read. Of a repeated header, Node and the framework read different values. */
function canBeKnown({ method, httpVersionMinor, headers, rawHeaders }: IncomingMessage): boolean {
  if (method !== "GET" || httpVersionMinor !== 1) return false;
  if (headers["content-length"] !== undefined || headers["transfer-encoding"] !== undefined) return false;
  let keys = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] as string;
    if (name.length === 13 && name.toLowerCase() === "authorization") keys += 1;
  }
  return keys === 1;
}
