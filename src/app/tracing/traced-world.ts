import type { Command } from "../../platform/rules/commands.ts";
import type { SpanSource, TraceSpan } from "../../ports/tracing.ts";
import type { Transaction, WorldHandle } from "../../worlds/world-handle.ts";
import type { CommitBatches } from "./commit-batches.ts";

/** The world with a span for each command that a transaction decides, and one for the commit that it waits for. */
export function tracedWorld(
  world: WorldHandle,
  request: TraceSpan,
  spans: SpanSource,
  batches: CommitBatches,
): WorldHandle {
  const traced = <T>(
    work: (transaction: Transaction) => T,
    run: (work: (transaction: Transaction) => T) => T | Promise<T>,
  ): T | Promise<T> => {
    let hasEvents = false;
    let committed: (() => void) | undefined;
    const result = run((transaction) => {
      const onEvents = () => {
        hasEvents = true;
      };
      const decided = work(tracedTransaction(transaction, world.name, request, spans, onEvents));
      // Only now: a transaction that throws waits for no commit.
      if (hasEvents) committed = batches.join(world.name, request);
      return decided;
    });
    // A transaction with events waits for its commit, so it never has its result at once.
    return result instanceof Promise ? result.finally(() => committed?.()) : result;
  };
  return withMethods(world, {
    transact: (work) => traced(work, (inner) => world.transact(inner)),
    read: (work, scopeOf) => traced(work, (inner) => world.read(inner, scopeOf)),
  });
}

function tracedTransaction(
  transaction: Transaction,
  world: string,
  request: TraceSpan,
  spans: SpanSource,
  onEvents: () => void,
): Transaction {
  return withMethods(transaction, {
    execute(command: Command) {
      const span = spans.child(request, `decide ${command.type}`, {
        "standin.command": command.type,
        "standin.world": world,
        "standin.simulated_time": new Date(transaction.now).toISOString(),
      });
      try {
        const result = transaction.execute(command);
        if (result.ok) {
          span.setAttributes({ "standin.events": result.value.length });
          if (result.value.length > 0) onEvents();
        } else span.setAttributes({ "standin.refusal": result.refusal.code });
        return result;
      } catch (error) {
        span.setError(error instanceof Error ? error.name : "error");
        throw error;
      } finally {
        span.end();
      }
    },
  });
}

/** The same object with other methods. */
function withMethods<T extends object>(object: T, methods: Partial<T>): T {
  return new Proxy(object, {
    get(target, key) {
      const method = methods[key as keyof T];
      if (method !== undefined) return method;
      const value: unknown = Reflect.get(target, key, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}
