import type { Period } from "../../traffic/recorded/trace/trace.ts";
import type { StartWorth } from "../gap-curve/costs.ts";
import type { LoadSizes, VisitSize } from "../sizes/load-sizes.ts";
import { type ActiveTimes, COLD_START, FIRST_START, RESUME } from "./active-times.ts";
import { addActiveTimesByDay, addSizeByDay } from "./outcome-days.ts";
import { addMeteredTime, type ReplayOutcome } from "./replay-outcome.ts";

/** Number of active times collected before they are added. */
const CAPACITY = 256;

/** The compute that active times belong to. */
export type ActiveCompute = {
  readonly lifetime: Period;
  /** Size in CU; the smallest one if the compute scales. */
  readonly cu: number;
  readonly startWorth: StartWorth;
  /** Sizes of a compute that scales. */
  readonly sizes?: LoadSizes | undefined;
  readonly visitSize?: VisitSize | undefined;
};

/**
 * Collects the active times of one compute after another, and adds them to an outcome, many at a time. Replays write
 * the columns themselves, because V8 allocates a number for each argument of a call. The active time that has not ended
 * is at `count`.
 */
export class ActiveTimeSums implements ActiveTimes {
  readonly startedBy = new Uint8Array(CAPACITY);
  readonly from = new Float64Array(CAPACITY);
  readonly readyAt = new Float64Array(CAPACITY);
  readonly to = new Float64Array(CAPACITY);
  readonly waitMs = new Float64Array(CAPACITY);
  readonly worthMs = new Float64Array(CAPACITY);
  count = 0;
  readonly #outcome: ReplayOutcome;
  #compute: ActiveCompute = { lifetime: { startAt: 0, endAt: 0 }, cu: 1, startWorth: () => 0 };

  constructor(outcome: ReplayOutcome) {
    this.#outcome = outcome;
  }

  begin(compute: ActiveCompute): void {
    this.#compute = compute;
  }

  /** Ends the active time at `count`. Its `to` must have been written. */
  end(): void {
    const { sizes, cu, visitSize } = this.#compute;
    const to = this.to[this.count] as number;
    if (sizes !== undefined) sizes.visitUntil(to, this.#addSize);
    else visitSize?.(this.readyAt[this.count] as number, to, cu);
    this.count += 1;
    if (this.count === CAPACITY) this.flush();
  }

  /** Adds the remaining active times. Called at the end of each compute. */
  flush(): void {
    const { cu, lifetime, startWorth, sizes } = this.#compute;
    const { activeByDay, days } = this.#outcome;
    const meteredCu = sizes === undefined ? cu : 0;
    weigh(this, startWorth);
    addTotals(this.#outcome, this, cu, meteredCu);
    for (let index = 0; index < this.count; index += 1)
      addMeteredTime(activeByDay, lifetime.startAt, this.readyAt[index] as number, this.to[index] as number);
    if (days !== undefined) addActiveTimesByDay(days, this, cu, meteredCu);
    this.count = 0;
  }

  /** Adds metered time of a compute that scales, one size at a time. */
  readonly #addSize: VisitSize = (from, to, sizeCu) => {
    const { days } = this.#outcome;
    this.#outcome.cuMs += (to - from) * sizeCu;
    if (days !== undefined) addSizeByDay(days, from, to, sizeCu);
    this.#compute.visitSize?.(from, to, sizeCu);
  };
}

/**
 * Sets the worth of a start: 0 for a first start, which no policy avoids, and for a resume that no request waits for.
 */
function weigh({ startedBy, waitMs, worthMs, count }: ActiveTimes, startWorth: StartWorth): void {
  for (let index = 0; index < count; index += 1) {
    const by = startedBy[index];
    const isWorth = by === COLD_START || (by === RESUME && (waitMs[index] as number) > 0);
    worthMs[index] = isWorth ? startWorth(waitMs[index] as number) : 0;
  }
}

function addTotals(
  outcome: ReplayOutcome,
  { startedBy, from, readyAt, to, worthMs, count }: ActiveTimes,
  cu: number,
  meteredCu: number,
): void {
  // Products tell V8 that these are doubles; otherwise it allocates a heap number in each iteration.
  let [activeMs, startingMs, cuMs] = [outcome.activeMs * 1, outcome.startingMs * 1, outcome.cuMs * 1];
  let [cuColdStarts, startWorthMs, cuStartWorthMs] = [
    outcome.cuColdStarts * 1,
    outcome.startWorthMs * 1,
    outcome.cuStartWorthMs * 1,
  ];
  let [firstStarts, coldStarts] = [0, 0];
  for (let index = 0; index < count; index += 1) {
    const readyFrom = readyAt[index] as number;
    activeMs += (to[index] as number) - (from[index] as number);
    startingMs += readyFrom - (from[index] as number);
    cuMs += ((to[index] as number) - readyFrom) * meteredCu;
    if (startedBy[index] === FIRST_START) firstStarts += 1;
    if (startedBy[index] === COLD_START) {
      coldStarts += 1;
      cuColdStarts += cu;
    }
    startWorthMs += worthMs[index] as number;
    cuStartWorthMs += (worthMs[index] as number) * cu;
  }
  outcome.firstStarts += firstStarts;
  outcome.coldStarts += coldStarts;
  Object.assign(outcome, { activeMs, startingMs, cuMs, cuColdStarts, startWorthMs, cuStartWorthMs });
}
