import type { IncomingMessage, ServerResponse } from "node:http";
import type { Context } from "hono";
import type { RequestBody } from "../../http/body.ts";
import type { IncomingCall } from "../../http/request.ts";
import { actingAccountId } from "./acting-account.ts";
import { type Decided, isSuccess, type RouteResponse } from "./incoming-request.ts";
import { KnownUrls, knowableMessage } from "./known-urls.ts";
import { hasSmallBody, type KnownCall, RepeatedCall } from "./repeated-call.ts";
import { redactedPath } from "./request-journal.ts";
import type { Answer } from "./send-response.ts";
import { type AnswerForm, writeAnswer } from "./write-answer.ts";

type Work = Pick<KnownCall, "readsBody"> & {
  /** Never rejects. */
  readonly decide: (call: IncomingCall, input: RequestBody | undefined) => Decided | Promise<Decided>;
  readonly answer: (call: IncomingCall, decided: Decided, result: RouteResponse) => Answer | Promise<Answer>;
};
type KnownUrl = KnownCall & Work;

type Options = AnswerForm & {
  /** Keeps the world open until the returned function is called. */
  readonly use: (world: string) => () => void;
  /** Is called with an exception that no answer can report. */
  readonly onBug: (error: unknown) => void;
};

type Waiting = {
  readonly outgoing: ServerResponse;
  readonly otherwise: () => void;
  readonly endUse: (() => void) | undefined;
};

/**
 * Answers requests whose method and URL were answered before without the framework: it knows their route and their parsed
 * parameters. Everything else is done for each request: its body, authentication, rate limits, faults, the handler of
 * the route, the request log. What is not a success is sent by the framework.
 */
export class RepeatedRequests {
  readonly #known = new KnownUrls<KnownUrl>();
  readonly #decided = new WeakMap<object, Decided>();
  readonly #options: Options;

  constructor(options: Options) {
    this.#options = options;
  }

  /** Called after a success of `context`. `work` must do the same for another request to the same URL. */
  remember(context: Context, work: Work): void {
    const { method, url, routePath } = context.req;
    // Another surface may have passed the request on, with another URL or for another account.
    const incoming = knowableMessage(context);
    if (incoming === undefined || method === "HEAD" || actingAccountId(context) !== undefined) return;
    if (this.#known.has(incoming)) return;
    const params = { ...context.req.param() };
    const query = context.req.query();
    const loggedPath = redactedPath(url);
    this.#known.set(incoming, { ...work, method, url, routePath, params, query, loggedPath });
  }

  /** Answers the request, or calls `otherwise` for the framework to do it. */
  answer(incoming: IncomingMessage, outgoing: ServerResponse, otherwise: () => void): void {
    const known = canBeKnown(incoming) ? this.#known.get(incoming) : undefined;
    if (known === undefined || !hasSmallBody(incoming, known)) {
      otherwise();
      return;
    }
    const call = new RepeatedCall(known, incoming);
    call.withBody((input) => this.#answer(call, input, outgoing, otherwise));
  }

  #answer(
    call: RepeatedCall<KnownUrl>,
    input: RequestBody | undefined,
    outgoing: ServerResponse,
    otherwise: () => void,
  ): void {
    const { decide, params } = call.known;
    let endUse: (() => void) | undefined;
    let isAnswered = true;
    try {
      endUse = params["world"] === undefined ? undefined : this.#options.use(params["world"]);
      const decided = decide(call, input);
      const answer = decided instanceof Promise ? undefined : answerOf(call, decided);
      isAnswered = answer !== undefined && !(answer instanceof Promise);
      if (isAnswered) writeAnswer(answer as Answer, outgoing, this.#options);
      else void this.#answerLater(call, decided, answer, { outgoing, otherwise, endUse });
    } catch (error) {
      this.#fail(error, outgoing);
    } finally {
      if (isAnswered) endUse?.();
    }
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
    call: RepeatedCall<KnownUrl>,
    deciding: Decided | Promise<Decided>,
    answering: Answer | Promise<Answer> | undefined,
    { outgoing, otherwise, endUse }: Waiting,
  ): Promise<void> {
    try {
      const decided = await deciding;
      const answered = answering ?? answerOf(call, decided);
      const answer = answered instanceof Promise ? await withoutBug(answered) : answered;
      if (answer !== undefined) writeAnswer(answer, outgoing, this.#options);
      else {
        this.#decided.set(call.env.incoming, decided);
        otherwise();
      }
    } catch (error) {
      this.#fail(error, outgoing);
    } finally {
      endUse?.();
    }
  }
}

/** `undefined`: the framework must answer. It also reports a bug that would throw here. */
function answerOf(call: RepeatedCall<KnownUrl>, decided: Decided): Answer | Promise<Answer> | undefined {
  const { result } = decided;
  if (!isSuccess(result)) return undefined;
  try {
    return call.known.answer(call, decided, result);
  } catch {
    return undefined;
  }
}

async function withoutBug(answer: Promise<Answer>): Promise<Answer | undefined> {
  try {
    return await answer;
  } catch {
    return undefined;
  }
}

/** Node and the framework read different values of a repeated header. */
function canBeKnown({ httpVersionMinor, rawHeaders }: IncomingMessage): boolean {
  if (httpVersionMinor !== 1) return false;
  let [keys, types] = [0, 0];
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] as string;
    if (name.length === 13 && name.toLowerCase() === "authorization") keys += 1;
    else if (name.length === 12 && name.toLowerCase() === "content-type") types += 1;
  }
  return keys === 1 && types <= 1;
}
