import type { Random } from "../../../kernel/random-port.ts";
import type { DurationMs, SimTime } from "../../../kernel/time.ts";
import { type ComputeArrivals, collectParts } from "../../../traffic/recorded/trace/trace.ts";
import type { DelayChoice } from "../../gap-curve/delay.ts";
import { effectiveDelay, type Question } from "../../input/question.ts";
import { type Slo, sloSource } from "../../input/slo.ts";
import { FixedReplay } from "../../replay/fixed-replay.ts";
import { WaitHistogram } from "../../replay/wait-histogram.ts";
import { type IgnoredSources, ignoredSources, isIgnored } from "../../trace/ignored-waits.ts";
import type { Traffic } from "../../trace/traffic.ts";
import { StartLatencies } from "../../units/start-latency.ts";

/** Waits for starts of the requests that an SLO is about, at its percentile. Each takes a replay of all traffic. */
export class SloWaits {
  readonly #traffic: Traffic;
  readonly #question: Question;
  readonly #random: Random;
  readonly #share: number;
  readonly #source: number | undefined;
  readonly #ignored: IgnoredSources | undefined;

  /** Throws a RangeError if no request has the source of the SLO. */
  constructor(traffic: Traffic, question: Question, slo: Slo, random: Random) {
    this.#traffic = traffic;
    this.#question = question;
    this.#random = random;
    this.#share = slo.share;
    this.#source = sloSource(slo, traffic.sources);
    // A limit for a source counts its waits, even if waits of that source are otherwise ignored.
    this.#ignored =
      this.#source === undefined ? ignoredSources(question.ignoredWaits, traffic.sources) : undefined;
  }

  /** `sentOf`: requests that a compute receives instead of its own. Yields the number of computes done. */
  *under(
    delay: DelayChoice,
    sentOf: (arrivals: ComputeArrivals) => ComputeArrivals = (arrivals) => arrivals,
  ): Generator<number, DurationMs> {
    const { period, computes } = this.#traffic;
    const question = this.#question;
    const waits = new WaitHistogram();
    let starts: Start[] = [];
    let requests = 0;
    const observer = {
      started: (at: SimTime, readyAt: SimTime) => starts.push({ at, readyAt }),
      suspended: () => undefined,
    };
    const replay = new FixedReplay(period, delay === "own" ? "never" : delay, undefined, observer);
    for (const number of computes.keys()) {
      const sent = sentOf(collectParts(this.#traffic.arrivals(number)));
      starts = [];
      replay.begin(new StartLatencies(question.latency, this.#random, number), {
        delay: effectiveDelay(question, delay, number),
        deletedAt: question.deletedAt?.[number],
      });
      replay.add(sent);
      replay.end();
      requests += addWaits(waits, sent, starts, { only: this.#source, ignored: this.#ignored });
      yield number + 1;
    }
    return waits.quantile(this.#share, requests);
  }
}

/** The requests without those of one source. `dropped`: position of the source. */
export function withoutSource({ at, durationMs, source }: ComputeArrivals, dropped: number): ComputeArrivals {
  const isSent = (_: number, index: number) => (source?.[index] ?? 0) !== dropped;
  return {
    at: at.filter(isSent),
    durationMs: durationMs.filter(isSent),
    source: source?.filter((own) => own !== dropped),
  };
}

type Start = { readonly at: SimTime; readonly readyAt: SimTime };

type CountedWaits = { readonly only: number | undefined; readonly ignored: IgnoredSources | undefined };

/**
 * Adds the waits: a request that arrives during a start waits for its end. Returns the number of requests of the
 * source.
 */
function addWaits(
  waits: WaitHistogram,
  { at, source }: ComputeArrivals,
  starts: readonly Start[],
  { only, ignored }: CountedWaits,
): number {
  let [next, requests] = [0, 0];
  for (let i = 0; i < at.length; i += 1) {
    if (only !== undefined && (source?.[i] ?? 0) !== only) continue;
    const arrival = at[i] as SimTime;
    while (next < starts.length && (starts[next] as Start).readyAt <= arrival) next += 1;
    const start = starts[next];
    if (start !== undefined && start.at <= arrival && !isIgnored(ignored, source, i))
      waits.add(start.readyAt - arrival);
    requests += 1;
  }
  return requests;
}
