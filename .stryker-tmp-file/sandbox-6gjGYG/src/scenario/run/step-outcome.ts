// @ts-nocheck
import type { FailedCondition } from "./verdict.ts";

export type Mismatch = Pick<FailedCondition, "expected" | "actual">;

/**
 * The outcome of an action. `isRestored`: the world is back at a snapshot, and later arrivals have not
 * happened.
 */
export type StepOutcome = {
  readonly detail: string | undefined;
  readonly failures: readonly Mismatch[];
  readonly isRestored?: boolean;
};

export function completed(detail?: string): StepOutcome {
  return { detail, failures: [] };
}

/** Compares as JSON; of objects, only the expected keys are compared. */
export function matchesJson(actual: unknown, expected: unknown): boolean {
  if (typeof expected !== "object" || expected === null || Array.isArray(expected))
    return JSON.stringify(actual) === JSON.stringify(expected);
  return Object.entries(expected).every(([key, inner]) =>
    matchesJson((actual as Record<string, unknown> | undefined | null)?.[key], inner),
  );
}
