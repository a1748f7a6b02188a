// @ts-nocheck
import type { Step } from "../file/step-schema.ts";
import { checkExpectations } from "./expectations.ts";
import {
  type CheckContext,
  checkCompute,
  checkReferences,
  listLabels,
  type ReportProblem,
  type YamlPath,
} from "./names.ts";

export function checkSteps(
  steps: readonly Step[],
  context: CheckContext,
  path: YamlPath,
  report: ReportProblem,
): void {
  for (const [index, step] of steps.entries()) checkStep(step, context, [...path, index], report);
}

function checkStep(step: Step, context: CheckContext, path: YamlPath, report: ReportProblem): void {
  const { request, activity, sql, expect, set, snapshot, restore, at, after, name } = step;
  if (at !== undefined && after !== undefined) report(path, "has both at and after; remove one");
  const checkReferencesAt = (value: unknown, at: YamlPath) => checkReferences(value, context, at, report);
  const checkAccount = (label: string | undefined, at: YamlPath) => {
    if (label !== undefined && context.labels !== undefined && context.labels.get(label)?.kind !== "account")
      report(at, `there is no account "${label}"; the accounts are ${listLabels(context, "account")}`);
  };
  const stepName = after?.step;
  if (stepName !== undefined && !context.steps.has(stepName) && !context.unparsedNames.has(stepName))
    report([...path, "after"], `there is no step "${stepName}" before this one`);
  if (request !== undefined) {
    for (const key of ["path", "body", "key"] as const)
      checkReferencesAt(request[key], [...path, "request", key]);
    checkAccount(request.as, [...path, "request", "as"]);
    checkCapture(request.capture, context, [...path, "request", "capture"], report);
  }
  if (sql !== undefined) {
    if (sql.on.includes("{")) checkReferencesAt(sql.on, [...path, "sql", "on"]);
    else checkCompute(sql.on, context, [...path, "sql", "on"], report);
    for (const key of ["query", "params", "rows"] as const)
      checkReferencesAt(sql[key], [...path, "sql", key]);
    for (const key of ["rows", "row_count", "capture"] as const)
      if (sql.error !== undefined && sql[key] !== undefined)
        report([...path, "sql", key], "must not be given with error: a statement that fails returns no rows");
    checkCapture(sql.capture, context, [...path, "sql", "capture"], report);
  }
  if (activity !== undefined) {
    if (activity.to.includes("{")) checkReferencesAt(activity.to, [...path, "activity", "to"]);
    else checkCompute(activity.to, context, [...path, "activity", "to"], report);
  }
  if (step.fault !== undefined) checkReferencesAt(step.fault, [...path, "fault"]);
  for (const label of Object.keys(set?.plan ?? {})) checkAccount(label, [...path, "set", "plan", label]);
  if (snapshot !== undefined) context.snapshots.add(snapshot);
  if (restore !== undefined && !context.snapshots.has(restore) && !context.unparsedNames.has(restore))
    report([...path, "restore"], `no earlier step takes a snapshot "${restore}"`);
  if (expect !== undefined) checkExpectations(expect, context, [...path, "expect"], report);
  if (step.repeat !== undefined) checkSteps(step.repeat.steps, context, [...path, "repeat", "steps"], report);
  for (const [sequence, steps] of (step.parallel ?? []).entries())
    checkSteps(steps, context, [...path, "parallel", sequence], report);
  if (name !== undefined) context.steps.add(name);
}

function checkCapture(
  capture: Readonly<Record<string, string>> = {},
  { labels, captured }: CheckContext,
  path: YamlPath,
  report: ReportProblem,
): void {
  for (const name of Object.keys(capture)) {
    if (labels?.get(name) !== undefined)
      report([...path, name], `"${name}" is already a label; choose another name`);
    captured.add(name);
  }
}
