/**
 * Loads are whole millionths of a vCPU, so that the sum of concurrent loads does not depend on their order.
 */
const UNITS_PER_VCPU = 1_000_000;

export function loadUnits(vcpus: number): number {
  return Math.round(vcpus * UNITS_PER_VCPU);
}

/**
 * D: what remains of the 1-minute load average from one reading of the number of running tasks to the next, 5
 * seconds later: exp(−5/60) in the fixed-point numbers of the Linux kernel.
 */
const RETAINED = 1_884 / 2_048;

/** Readings after which less is left of a difference than a load unit is of the highest load. */
const MAX_READINGS = 1_024;

/** The powers of `RETAINED`, by repeated multiplication: the same bits on every machine. */
const POWERS = Float64Array.from({ length: MAX_READINGS + 1 });
POWERS[0] = 1;
for (let readings = 1; readings <= MAX_READINGS; readings += 1)
  POWERS[readings] = (POWERS[readings - 1] as number) * RETAINED;

/** A load average as plain values. Readings are numbered from 1, in the order of time. */
export type LoadAverageState = {
  /** The last reading that has been counted. */
  readonly reading: number;
  /** All readings after this one, up to `reading`, saw the same load. */
  readonly since: number;
  /** The average at `since`, in load units. */
  readonly averageAtSince: number;
  /** The load that these readings saw, in load units. */
  readonly load: number;
};

export const NO_LOAD: LoadAverageState = { reading: 0, since: 0, averageAtSince: 0, load: 0 };

/**
 * The 1-minute load average of a compute as the kernel computes it: at each reading the average moves toward
 * the load of that instant. Readings that see the same load are counted in one step, so idle time costs
 * nothing. The result depends only on the loads, not on how they were divided into steps.
 */
export class LoadAverage {
  #reading: number;
  #since: number;
  #averageAtSince: number;
  #load: number;

  constructor({ reading, since, averageAtSince, load }: LoadAverageState = NO_LOAD) {
    this.#reading = reading;
    this.#since = since;
    this.#averageAtSince = averageAtSince;
    this.#load = load;
  }

  get state(): LoadAverageState {
    const [reading, since] = [this.#reading, this.#since];
    return { reading, since, averageAtSince: this.#averageAtSince, load: this.#load };
  }

  /** The number of the last reading. */
  get reading(): number {
    return this.#reading;
  }

  /** In vCPUs, at the last reading. */
  get load1(): number {
    return this.#average(this.#reading - this.#since) / UNITS_PER_VCPU;
  }

  /** The next `readings` readings see `load`, in load units. */
  count(load: number, readings = 1): void {
    if (load !== this.#load) {
      this.#averageAtSince = this.#average(this.#reading - this.#since);
      this.#since = this.#reading;
      this.#load = load;
    }
    this.#reading += readings;
  }

  /** In vCPUs, if the next `readings` readings see `load`. */
  load1After(load: number, readings: number): number {
    const passed = this.#reading - this.#since;
    if (load === this.#load) return this.#average(passed + readings) / UNITS_PER_VCPU;
    return approach(this.#average(passed), load, readings) / UNITS_PER_VCPU;
  }

  /**
   * How many readings that see `load` it takes until the goal is no longer `goal`, at most `most`; `undefined`
   * if it stays. Requires that `goalFor` does not decrease with the load average.
   */
  readingsUntilOther(
    goal: number,
    load: number,
    most: number,
    goalFor: (load1: number) => number,
  ): number | undefined {
    const isOther = (readings: number) => goalFor(this.load1After(load, readings)) !== goal;
    if (most < 1) return undefined;
    if (isOther(1)) return 1;
    // Later the average stays as it is.
    let high = Math.min(most, MAX_READINGS);
    if (high === 1 || !isOther(high)) return undefined;
    let low = 1;
    while (high - low > 1) {
      const middle = (low + high) >>> 1;
      if (isOther(middle)) high = middle;
      else low = middle;
    }
    return high;
  }

  #average(readings: number): number {
    return approach(this.#averageAtSince, this.#load, readings);
  }
}

function approach(average: number, load: number, readings: number): number {
  return readings > MAX_READINGS ? load : load + (average - load) * (POWERS[readings] as number);
}
