import type { WorldHandle } from "../../worlds/world-handle.ts";
import type { ComputeHost } from "../compute/compute-host.ts";
import type { RunningEngine } from "../engine/engine.ts";
import type { ComputeSpans } from "./spans.ts";

/** The catalog, not the workers: these are started again every few seconds if the publisher rejects them. */
const HAS_SUBSCRIPTIONS = "SELECT EXISTS (SELECT FROM pg_subscription WHERE subenabled) AS has_subscriptions";

/** Wall-clock time between two looks at what workers have written. */
const WATCH_INTERVAL_MS = 1_000;

/** D: a compute with workers of subscriptions stays active. They need neither a session of a client nor a connection. */
export class SubscriberActivity {
  readonly #world: WorldHandle;
  readonly #endpointId: string;
  readonly #host: ComputeHost;
  readonly #spans: ComputeSpans;
  readonly #onWatched: () => void;
  /** The engine whose compute is kept active. */
  #engine: RunningEngine | undefined;
  /** The last engine of which it is known whether it has subscriptions. */
  #checkedEngine: RunningEngine | undefined;
  #watching: NodeJS.Timeout | undefined;
  #checked: Promise<void> = Promise.resolve();

  /** `onWatched`: called regularly while the compute is kept active, because no work of a client ends then. */
  constructor(
    world: WorldHandle,
    endpointId: string,
    {
      host,
      spans,
      onWatched,
    }: { readonly host: ComputeHost; readonly spans: ComputeSpans; readonly onWatched: () => void },
  ) {
    this.#world = world;
    this.#endpointId = endpointId;
    this.#host = host;
    this.#spans = spans;
    this.#onWatched = onWatched;
  }

  get keepsActive(): boolean {
    return this.#engine !== undefined;
  }

  /** Before the first work with an engine ends: on a fast clock, its compute could be suspended before the next check. */
  async checkOnce(engine: RunningEngine): Promise<void> {
    if (this.#checkedEngine !== engine) await this.check();
  }

  /** Begins or ends to keep the compute of the running engine active. */
  check(): Promise<void> {
    this.#checked = this.#checked.catch(() => undefined).then(() => this.#check());
    return this.#checked;
  }

  async #check(): Promise<void> {
    const engine = await this.#host.running;
    // Those of a read replica are the primary's.
    if (engine === undefined || this.#host.volumeId === undefined) return;
    const [found] = await engine.query(HAS_SUBSCRIPTIONS);
    if (found?.["has_subscriptions"] !== "t") {
      this.#checkedEngine = engine;
      this.end();
      return;
    }
    if (this.#engine === engine) return;
    this.end();
    const isActive = await this.#world.transact((transaction) => {
      const compute = transaction.world.computes.get(this.#endpointId);
      // A branch without a primary compute is written to for its replica, and no workers run.
      if (compute?.type !== "read_write") return false;
      const { phase } = compute;
      if (phase.state !== "active" || phase.suspending) return false;
      this.#spans.beginOwnWork(transaction);
      return true;
    });
    if (!isActive) return;
    this.#engine = engine;
    this.#checkedEngine = engine;
    this.#host.retain();
    this.#watching = setInterval(this.#onWatched, WATCH_INTERVAL_MS).unref();
    void engine.exited.then(() => {
      if (this.#engine === engine) this.end();
    });
  }

  end(): void {
    if (this.#engine === undefined) return;
    this.#engine = undefined;
    clearInterval(this.#watching);
    this.#spans.endOwnWork();
    this.#host.release();
  }
}
