import { listNames } from "../../kernel/text.ts";
import type { DurationMs } from "../../kernel/time.ts";
import { isLabel, type LabelKind, type Labels } from "../file/labels.ts";
import { invalidInstantsIn, ROUND_NAME, referencesIn } from "../file/references.ts";

export type YamlPath = readonly (string | number)[];

export type ReportProblem = (path: YamlPath, message: string) => void;

export type CheckContext = {
  /** `undefined` when they are only known once the run starts. */
  readonly labels: Labels | undefined;
  readonly captured: Set<string>;
  readonly steps: Set<string>;
  readonly snapshots: Set<string>;
  readonly unparsedNames: ReadonlySet<string>;
  readonly errorCodes: readonly string[] | undefined;
  /** Length of the run, if its clock cannot go beyond that. */
  readonly length: DurationMs | undefined;
};

export function checkReferences(
  value: unknown,
  context: CheckContext,
  path: YamlPath,
  report: ReportProblem,
): void {
  for (const text of invalidInstantsIn(value))
    report(path, `${text}: must have a duration after the sign, such as {{now+24h}}`);
  for (const reference of referencesIn(value)) {
    if (
      context.labels === undefined ||
      context.captured.has(reference) ||
      (reference === ROUND_NAME && path.includes("repeat")) ||
      context.unparsedNames.has(reference)
    )
      continue;
    if (context.labels.get(reference) === undefined)
      report(
        path,
        `{${reference}} is neither a label nor captured by an earlier step; ${describeKnownNames(context)}; write {{${reference}}} for literal braces`,
      );
  }
}

export function checkMeasuredLabel(
  label: string,
  context: CheckContext,
  path: YamlPath,
  report: ReportProblem,
): void {
  if (context.labels !== undefined && context.labels.get(label) === undefined)
    report(path, `there is no "${label}"; ${describeKnownNames(context)}`);
}

export function checkComputes(
  patterns: readonly string[],
  context: CheckContext,
  path: YamlPath,
  report: ReportProblem,
): void {
  if (context.labels === undefined) return;
  for (const pattern of patterns) {
    if (!isLabel(pattern) || context.labels.computes(pattern).length === 0)
      report(path, `"${pattern}" selects no compute; the computes are ${listLabels(context, "compute")}`);
  }
}

/** For a single compute: a branch selects its first one; a project or a wildcard is ambiguous. */
export function checkCompute(
  label: string,
  context: CheckContext,
  path: YamlPath,
  report: ReportProblem,
): void {
  const kind = context.labels?.get(label)?.kind;
  const matches = context.labels?.computes(label) ?? [];
  if (kind === "compute" || kind === "branch" || matches.length === 0)
    checkComputes([label], context, path, report);
  else
    report(
      path,
      `"${label}" must select one compute; choose one of ${listNames(matches.map((one) => one.label))}`,
    );
}

export function listLabels({ labels }: CheckContext, kind: LabelKind): string {
  return listNames((labels?.all() ?? []).filter((one) => one.kind === kind).map(({ label }) => label));
}

function describeKnownNames({ labels, captured }: CheckContext): string {
  return `the known names are ${listNames([...(labels?.all() ?? []).map(({ label }) => label), ...captured])}`;
}
