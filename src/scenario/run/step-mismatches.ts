import { valueAtPath } from "../file/references.ts";
import type { ActivityStep, RequestStep } from "../file/step-schema.ts";
import type { ArrivalOutcome } from "./scenario-arrivals.ts";
import { type Mismatch, matchesJson, type StepOutcome } from "./step-outcome.ts";
import type { TargetResponse } from "./target.ts";

/**
 * Differences between a response and the expectations of its step. `resolve` replaces the references in expected
 * values.
 */
export function responseMismatches(
  step: RequestStep,
  acceptedStatuses: readonly number[] | undefined,
  { status, body, refusedWith }: TargetResponse,
  resolve: <T>(template: T) => T,
): Mismatch[] {
  const isAccepted =
    acceptedStatuses === undefined ? status >= 200 && status < 300 : acceptedStatuses.includes(status);
  const { code, message } = (body ?? {}) as { code?: unknown; message?: unknown };
  const reason = status >= 400 || status === 0 ? ` ${refusedWith ?? String(code)}: ${String(message)}` : "";
  const mismatches: Mismatch[] = isAccepted
    ? []
    : [
        {
          expected: `status ${acceptedStatuses?.join(" or ") ?? "2xx"}`,
          actual: `status ${status}${reason}`,
        },
      ];
  for (const [path, template] of Object.entries(step.answer ?? {})) {
    const actual = valueAtPath(body, path);
    const expected = resolve(template);
    if (!matchesJson(actual, expected))
      mismatches.push({
        expected: `${path}: ${JSON.stringify(expected)}`,
        actual: `${path}: ${JSON.stringify(actual)}`,
      });
  }
  for (const [name, path] of Object.entries(step.capture ?? {})) {
    if (valueAtPath(body, path) === undefined)
      mismatches.push({ expected: `a value at ${path}, to capture as ${name}`, actual: "no value" });
  }
  return mismatches;
}

/** The outcome of an activity step; without an arrival, it was dropped. */
export function arrivalStepOutcome(
  { outcome }: ActivityStep,
  arrival: ArrivalOutcome | undefined,
): StepOutcome {
  const actual =
    arrival === undefined
      ? "dropped"
      : `${arrival.outcome}${arrival.code === undefined ? "" : ` (${arrival.code})`}`;
  const isAccepted =
    outcome === undefined ? actual === "served" || actual === "waits" : arrival?.outcome === outcome;
  const detail = arrival?.outcome === "waits" ? `waits ${arrival.waitedMs} ms` : actual;
  return { detail, failures: isAccepted ? [] : [{ expected: outcome ?? "served or waits", actual }] };
}
