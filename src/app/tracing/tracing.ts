import { AsyncLocalStorage } from "node:async_hooks";
import type { IncomingCall, WorldResolver } from "../../http/request.ts";
import type { SpanSource, TraceSpan } from "../../ports/tracing.ts";
import type { WorldHandle } from "../../worlds/world-handle.ts";
import { CommitBatches } from "./commit-batches.ts";
import { tracedWorld } from "./traced-world.ts";

type FetchFunction = (request: Request, ...rest: never[]) => Response | Promise<Response>;

/** Traces of the requests of a server: request, decisions, commit. */
export class Tracing {
  readonly #spans: SpanSource;
  readonly #current = new AsyncLocalStorage<TraceSpan>();
  readonly #batches: CommitBatches;

  constructor(spans: SpanSource) {
    this.#spans = spans;
    this.#batches = new CommitBatches(spans);
  }

  /** A span for each request. It ends when the head of the response is known, also for streams. */
  requests<F extends FetchFunction>(fetch: F): F {
    const traced = async (request: Request, ...rest: never[]) => {
      const url = new URL(request.url);
      const span = this.#spans.request(request.method, request.headers, {
        "http.request.method": request.method,
        "url.scheme": url.protocol.slice(0, -1),
        "server.address": url.hostname,
        ...(url.port === "" ? {} : { "server.port": Number(url.port) }),
      });
      try {
        const response = await this.#current.run(span, () => fetch(request, ...rest));
        span.setAttributes({ "http.response.status_code": response.status });
        const id = response.headers.get("x-request-id");
        if (id !== null) span.setAttributes({ "standin.request_id": id });
        if (response.status >= 500) span.setError(`status ${response.status}`);
        return response;
      } catch (error) {
        span.setError(error instanceof Error ? error.name : "error");
        throw error;
      } finally {
        span.end();
      }
    };
    return traced as F;
  }

  /** The resolver whose worlds trace the decisions and commits of the current request. */
  worldsOf(resolve: WorldResolver): WorldResolver {
    return (context) => {
      const world = resolve(context);
      const span = this.#describe(context, world);
      return span === undefined ? world : tracedWorld(world, span, this.#spans, this.#batches);
    };
  }

  /** The resolver whose calls have the name of their route and of their world, but no further spans. */
  namesOf(resolve: WorldResolver): WorldResolver {
    return (context) => {
      const world = resolve(context);
      this.#describe(context, world);
      return world;
    };
  }

  #describe(context: IncomingCall, world: WorldHandle): TraceSpan | undefined {
    const span = this.#current.getStore();
    if (span === undefined) return undefined;
    // The path of a request may contain a secret; its route does not.
    const route = context.req.routePath;
    span.setName(`${context.req.method} ${route}`);
    span.setAttributes({ "http.route": route, "standin.world": world.name });
    return span;
  }
}
