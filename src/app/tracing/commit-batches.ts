import type { SpanSource, TraceSpan } from "../../ports/tracing.ts";

/** A span has at most this many links to other requests of its commit. */
const MAX_LINKS = 32;

type Member = { readonly request: TraceSpan; readonly span: TraceSpan };

/**
 * Which requests wait for the same commit. A commit contains all that one turn of the event loop has decided, so a
 * batch ends with the turn in which it begins.
 */
export class CommitBatches {
  readonly #spans: SpanSource;
  readonly #collecting = new Map<string, Member[]>();

  constructor(spans: SpanSource) {
    this.#spans = spans;
  }

  /** Begins the span of a commit. Returns what ends it. */
  join(world: string, request: TraceSpan): () => void {
    let members = this.#collecting.get(world);
    if (members === undefined) {
      members = [];
      this.#collecting.set(world, members);
      setImmediate(() => this.#collecting.delete(world));
    }
    const batch = members;
    const links = batch.slice(0, MAX_LINKS).map((member) => member.request);
    const span = this.#spans.child(request, "commit", { "standin.world": world }, links);
    batch.push({ request, span });
    return () => {
      span.setAttributes({ "standin.commit.requests": batch.length });
      span.end();
    };
  }
}
