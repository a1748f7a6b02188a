import type { DurationMs } from "../../kernel/time.ts";
import { OPERATION_ACTIONS, type OperationAction } from "../../platform/catalog/operation-actions.ts";
import {
  ACTIVITY_ACTIONS,
  DECISIVE_STATUSES,
  plausibleOrder,
  STARTS,
} from "../../whatif/periods/compute-operations.ts";
import { type ComputePast, RECORDED_ACTIONS } from "./account-past.ts";

const SUSPENDS = ACTIVITY_ACTIONS.indexOf("suspend_compute");

export type RecordedEnd = "finished" | "failed" | "cancelled";

/** S: `OperationStatus`. How a world calls the ends that it does not know by that name. */
const ENDS: Readonly<Record<string, RecordedEnd>> = {
  finished: "finished",
  failed: "failed",
  error: "failed",
  cancelled: "cancelled",
  skipped: "cancelled",
};

/**
 * The operations of one compute that have ended and whose action is known, in the order in which they ran: one after the
 * other, each from its creation or from the end of the one before.
 */
export class OperationCourse {
  readonly createdAt: Float64Array;
  readonly durationMs: Float64Array;
  readonly beginsAt: Float64Array;
  readonly endsAt: Float64Array;
  /** Positions in `RECORDED_ACTIONS`. */
  readonly action: Uint8Array;
  /** 1 if it finished. */
  readonly isEffective: Uint8Array;
  readonly ids: readonly string[];
  readonly failures: readonly number[];
  readonly #ends: readonly RecordedEnd[];
  /** The number of operations that had not ended, and of those with an action that standin does not know. */
  readonly unfinished: number;
  readonly unknown: number;

  constructor({ operations, ids, failures }: Pick<ComputePast, "operations" | "ids" | "failures">) {
    let [unfinished, unknown] = [0, 0];
    const order = [...plausibleOrder(operations)].filter((index) => {
      const isKnown = (operations.action[index] as number) < RECORDED_ACTIONS.length;
      const hasEnded = endOf(operations.status[index] as number) !== undefined;
      if (!isKnown) unknown += 1;
      else if (!hasEnded) unfinished += 1;
      return isKnown && hasEnded;
    });
    this.unfinished = unfinished;
    this.unknown = unknown;
    const column = (values: Float64Array) => Float64Array.from(order, (index) => values[index] as number);
    this.createdAt = column(operations.createdAt);
    this.durationMs = column(operations.durationMs);
    this.action = Uint8Array.from(order, (index) => operations.action[index] as number);
    this.#ends = order.map((index) => endOf(operations.status[index] as number) ?? "cancelled");
    this.isEffective = Uint8Array.from(this.#ends, (end) => (end === "finished" ? 1 : 0));
    this.ids = order.map((index) => ids[index] ?? "");
    this.failures = order.map((index) => failures[index] ?? 0);
    this.beginsAt = new Float64Array(order.length);
    this.endsAt = new Float64Array(order.length);
    let freeAt = 0;
    for (let index = 0; index < order.length; index += 1) {
      const createdAt = this.createdAt[index] as number;
      const beginsAt = Math.max(createdAt, freeAt);
      // The platform counts the wait as duration.
      freeAt = Math.max(beginsAt, createdAt + (this.durationMs[index] as DurationMs));
      this.beginsAt[index] = beginsAt;
      this.endsAt[index] = freeAt;
    }
  }

  get length(): number {
    return this.createdAt.length;
  }

  actionOf(index: number): OperationAction {
    return RECORDED_ACTIONS[this.action[index] as number] as OperationAction;
  }

  endOf(index: number): RecordedEnd {
    return this.#ends[index] ?? "cancelled";
  }

  starts(index: number): boolean {
    return this.action[index] === STARTS && this.isEffective[index] === 1;
  }

  suspends(index: number): boolean {
    return this.action[index] === SUSPENDS && this.isEffective[index] === 1;
  }
}

function endOf(status: number): RecordedEnd | undefined {
  return recordedEnd(DECISIVE_STATUSES[status] ?? "");
}

/** `undefined` for an operation that had not ended. */
export function recordedEnd(status: string): RecordedEnd | undefined {
  return ENDS[status];
}

export function isRecordedAction(action: string): action is OperationAction {
  return (OPERATION_ACTIONS as readonly string[]).includes(action);
}
