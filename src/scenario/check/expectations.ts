import { closestMatch, listNames } from "../../kernel/text.ts";
import { OPERATION_ACTIONS } from "../../platform/catalog/operation-actions.ts";
import type { Operation } from "../../platform/model/operation.ts";
import { EVENT_TYPES } from "../../platform/rules/evolve.ts";
import { type Expectation, formatDuration } from "../file/expectation.ts";
import { METHODS } from "../file/request-step.ts";
import {
  type CheckContext,
  checkCompute,
  checkMeasuredLabel,
  type ReportProblem,
  type YamlPath,
} from "./names.ts";

type WatchWindow = Pick<Expectation, "from" | "until">;

/**
 * Compares bounds of the same kind only; how an instant and a duration compare is known when the run starts.
 */
export function checkWindow(
  { from, until }: WatchWindow,
  context: CheckContext,
  path: YamlPath,
  report: ReportProblem,
): void {
  if (
    from !== undefined &&
    "afterStart" in from &&
    from.afterStart > (context.length ?? Number.POSITIVE_INFINITY)
  )
    reportLate(context, path, report);
  if (until !== undefined && "afterStart" in until && until.afterStart === 0)
    report([...path, "until"], "must be later than the start of the run");
  if (from === undefined || until === undefined) return;
  const isEmpty =
    "instant" in from && "instant" in until
      ? from.instant >= until.instant
      : "afterStart" in from && "afterStart" in until && from.afterStart >= until.afterStart;
  if (isEmpty) report([...path, "until"], "must be later than from");
}

export function reportLate({ length = 0 }: CheckContext, path: YamlPath, report: ReportProblem): void {
  report([...path, "from"], `the run has ended by then: its length is ${formatDuration(length)}`);
}

export function checkExpectations(
  expectations: readonly Expectation[],
  context: CheckContext,
  path: YamlPath,
  report: ReportProblem,
): void {
  for (const [index, { of, measure, where, from, until }] of expectations.entries()) {
    const place = [...path, index];
    if (from !== undefined || until !== undefined) checkWindow({ from, until }, context, place, report);
    if ((from !== undefined || until !== undefined) && path[0] !== "always" && path[0] !== "never") {
      report(place, "from and until are only allowed under always and never");
    }
    for (const [key, value] of Object.entries(where))
      checkAllowedValue(
        key,
        allowedValues(`${measure} ${key}`, context),
        value,
        [...place, "with", key],
        report,
      );
    if (of === undefined) continue;
    if (measure === "state") checkCompute(of, context, [...place, "of"], report);
    else checkMeasuredLabel(of, context, [...place, "of"], report);
  }
}

const OPERATION_STATUSES = [
  "scheduling",
  "running",
  "finished",
  "failed",
  "cancelled",
] as const satisfies readonly Operation["state"]["status"][];

/** The allowed values of a filter; `undefined` when any value is allowed. */
function allowedValues(what: string, { errorCodes }: CheckContext): readonly string[] | undefined {
  switch (what) {
    case "operations action":
      return OPERATION_ACTIONS;
    case "operations status":
      return OPERATION_STATUSES;
    case "requests method":
      return METHODS;
    case "requests code":
      return errorCodes;
    case "events type":
      return EVENT_TYPES;
    default:
      return undefined;
  }
}

/**
 * A filter on an unknown name would always count 0. The empty code is allowed: it belongs to answers without
 * an error.
 */
function checkAllowedValue(
  key: string,
  allowed: readonly string[] | undefined,
  value: string | number,
  path: YamlPath,
  report: ReportProblem,
): void {
  const text = String(value);
  if (allowed === undefined || text === "" || allowed.includes(text)) return;
  const suggestion = closestMatch(text, allowed);
  report(
    path,
    `there is no ${key} "${text}"; ${suggestion === undefined ? `the values are ${listNames(allowed)}` : `did you mean "${suggestion}"?`}`,
  );
}
