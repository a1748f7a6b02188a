import { closestMatch } from "../../platform/core/text.ts";
import type { DurationMs } from "../../platform/core/time.ts";
import { EVENT_TYPES } from "../../platform/evolve.ts";
import { OPERATION_ACTIONS, type Operation } from "../../platform/operation/operation.ts";
import { checkPastTimes, rewindsClock } from "./check-times.ts";
import { type Expectation, formatDuration } from "./expectation.ts";
import { isLabel, type LabelKind, Labels } from "./labels.ts";
import { invalidInstantsIn, ROUND_NAME, referencesIn } from "./references.ts";
import type { Scenario } from "./scenario-schema.ts";
import { ACTIONS, everyStep, METHODS, type Step } from "./step-schema.ts";
import { labelsOfDescription } from "./world-description.ts";

type YamlPath = readonly (string | number)[];
export type ReportProblem = (path: YamlPath, message: string) => void;
type CheckContext = {
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
type CheckOptions = {
  /** Known error codes; without them, codes are not checked. */
  readonly errorCodes?: readonly string[] | undefined;
  /** Whether everything under a top-level key could be parsed. */
  readonly isParsed?: (key: string) => boolean;
  /** Names in the parts that could not be parsed; they count as defined. */
  readonly unparsedNames?: ReadonlySet<string>;
  /** Strings in the parts that could not be parsed, with their paths in the file. */
  readonly unparsed?: {
    readonly texts: readonly { readonly path: YamlPath; readonly text: string }[];
    readonly report: ReportProblem;
  };
};

const MAX_ID_LENGTH = 60;

/** Checks across lines: unknown labels, names used before they are defined, and the like. */
export function checkScenario(
  scenario: Scenario,
  report: ReportProblem,
  { errorCodes, isParsed = () => true, unparsedNames = new Set(), unparsed }: CheckOptions = {},
): void {
  const { world, traffic, steps, length } = scenario;
  // The contents of a world file are only known when it is opened.
  const isWorldKnown = isParsed("world") && world.file === undefined;
  // A step that restores the world may be among the parts that could not be parsed.
  const mayRewind = [...unparsedNames].some((name) =>
    ["restore", "control"].includes(closestMatch(name, ACTIONS) ?? ""),
  );
  const context: CheckContext = {
    labels: isWorldKnown ? collectLabels(scenario, report) : undefined,
    ...{ captured: new Set(), steps: new Set(), snapshots: new Set(), unparsedNames },
    errorCodes:
      errorCodes && world.file === undefined ? [...errorCodes, ...faultErrorCodes(steps)] : undefined,
    length: mayRewind || [...everyStep(steps)].some(rewindsClock) ? undefined : length,
  };
  if (isWorldKnown) checkParents(scenario, report);
  checkTraffic(traffic, context, report);
  checkSteps(steps, context, ["steps"], report);
  for (const key of ["expect", "always", "never"] as const)
    checkExpectations(scenario[key], context, [key], report);
  for (const { path, text } of unparsed?.texts ?? [])
    checkUnparsed(text, context, path, unparsed?.report ?? report);
  if (length === undefined && steps.length === 0 && isParsed("length") && isParsed("steps"))
    report(["length"], "is required when there are no steps; set it to a duration such as 1d");
  if (!mayRewind) checkPastTimes(scenario, report);
}

function collectLabels({ world }: Scenario, report: ReportProblem): Labels {
  const labels = new Labels();
  for (const labelled of labelsOfDescription(world)) {
    const { label } = labelled;
    if (labels.get(label) !== undefined) report(["world"], `the label "${label}" is used twice`);
    if (`ep-${label}`.length > MAX_ID_LENGTH)
      report(
        ["world"],
        `the label "${label}" is too long: with the prefix ep- it must have at most ${MAX_ID_LENGTH} characters`,
      );
    labels.add({ ...labelled, id: label });
  }
  return labels;
}

/** Error codes that faults of this file answer with. */
function faultErrorCodes(steps: readonly Step[]): string[] {
  const codes = (value: unknown): string[] =>
    typeof value !== "object" || value === null
      ? []
      : Object.entries(value).flatMap(([key, inner]) =>
          key === "code" && typeof inner === "string" ? [inner] : codes(inner),
        );
  return [...everyStep(steps)].flatMap(({ fault, control }) => codes([fault, control?.body]));
}

function checkTraffic(traffic: Scenario["traffic"], context: CheckContext, report: ReportProblem): void {
  const names = traffic.map(({ name }) => name);
  for (const [index, source] of traffic.entries()) {
    const path = ["traffic", index];
    const patterns = [source.to].flat();
    checkComputes(patterns, context, [...path, "to"], report);
    checkWindow(source, context, path, report);
    // The end is exclusive: nothing arrives at that instant.
    if (source.from !== undefined && "afterStart" in source.from && source.from.afterStart === context.length)
      reportLate(context, path, report);
    if (names.indexOf(source.name) !== index)
      report(
        [...path, "name"],
        `another source is called "${source.name}"; each source needs its own name, which selects its random stream`,
      );
    if (source.pattern !== "replay") continue;
    const matches = new Set(
      patterns.flatMap((pattern) => context.labels?.computes(pattern) ?? []).map(({ label }) => label),
    );
    if (matches.size > 1)
      report(
        [...path, "to"],
        `must select one compute in a replay, but selects ${listNames([...matches])}; map endpoints to computes under "computes"`,
      );
    for (const [endpoint, label] of Object.entries(source.computes ?? {}))
      checkCompute(label, context, [...path, "computes", endpoint], report);
  }
}

function checkParents({ world }: Scenario, report: ReportProblem): void {
  const places = [
    { projects: world.projects, path: ["world", "projects"] },
    ...Object.entries(world.accounts).map(([label, { projects }]) => ({
      projects,
      path: ["world", "accounts", label, "projects"],
    })),
  ];
  for (const { projects, path } of places) {
    for (const [label, { branches }] of Object.entries(projects)) {
      const earlier: string[] = [];
      for (const [branch, { parent }] of Object.entries(branches)) {
        if (parent !== undefined && !earlier.includes(parent))
          report(
            [...path, label, "branches", branch, "parent"],
            `there is no branch "${parent}" before this one`,
          );
        earlier.push(branch);
      }
    }
  }
}

function checkSteps(
  steps: readonly Step[],
  context: CheckContext,
  path: YamlPath,
  report: ReportProblem,
): void {
  for (const [index, step] of steps.entries()) checkStep(step, context, [...path, index], report);
}

function checkStep(step: Step, context: CheckContext, path: YamlPath, report: ReportProblem): void {
  const { request, activity, expect, set, snapshot, restore, at, after, name } = step;
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
    for (const captured of Object.keys(request.capture ?? {})) {
      if (context.labels?.get(captured) !== undefined)
        report(
          [...path, "request", "capture", captured],
          `"${captured}" is already a label; choose another name`,
        );
      context.captured.add(captured);
    }
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

function checkReferences(value: unknown, context: CheckContext, path: YamlPath, report: ReportProblem): void {
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

/** The fields of a step that may contain references in braces. */
const REFERENCING_KEYS = /\.(request\.(path|body|key)|activity\.to|fault)\b/;

/**
 * Checks names next to an error in the same entry. Captured names count wherever they are, because the order
 * is unknown.
 */
function checkUnparsed(text: string, context: CheckContext, path: YamlPath, report: ReportProblem): void {
  const keys = path.filter((part) => typeof part === "string");
  const [parentKey, key] = keys.slice(-2);
  if (key === "of") checkMeasuredLabel(text, context, path, report);
  else if (key === "to" && (parentKey === "traffic" || (parentKey === "activity" && !text.includes("{"))))
    checkComputes([text], context, path, report);
  else if (path[0] === "steps" && REFERENCING_KEYS.test(keys.join(".")))
    checkReferences(text, context, path, report);
}

type WatchWindow = Pick<Expectation, "from" | "until">;

/**
 * Compares bounds of the same kind only; how an instant and a duration compare is known when the run starts.
 */
function checkWindow(
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

function reportLate({ length = 0 }: CheckContext, path: YamlPath, report: ReportProblem): void {
  report([...path, "from"], `the run has ended by then: its length is ${formatDuration(length)}`);
}

function checkExpectations(
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

function checkMeasuredLabel(
  label: string,
  context: CheckContext,
  path: YamlPath,
  report: ReportProblem,
): void {
  if (context.labels !== undefined && context.labels.get(label) === undefined)
    report(path, `there is no "${label}"; ${describeKnownNames(context)}`);
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

function checkComputes(
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
function checkCompute(label: string, context: CheckContext, path: YamlPath, report: ReportProblem): void {
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

const MAX_LISTED = 8;

function listLabels({ labels }: CheckContext, kind: LabelKind): string {
  return listNames((labels?.all() ?? []).filter((one) => one.kind === kind).map(({ label }) => label));
}

function describeKnownNames({ labels, captured }: CheckContext): string {
  return `the known names are ${listNames([...(labels?.all() ?? []).map(({ label }) => label), ...captured])}`;
}

/** The first names of a list, for messages. */
export function listNames(names: readonly string[]): string {
  return names.length === 0
    ? "none"
    : names.slice(0, MAX_LISTED).join(", ") + (names.length > MAX_LISTED ? ", …" : "");
}
