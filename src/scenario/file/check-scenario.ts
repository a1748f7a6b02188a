import { closestMatch } from "../../platform/core/text.ts";
import type { DurationMs } from "../../platform/core/time.ts";
import { EVENT_TYPES } from "../../platform/evolve.ts";
import { OPERATION_ACTIONS, type Operation } from "../../platform/operation/operation.ts";
import { checkPastTimes, rewindsClock } from "./check-times.ts";
import { type Expectation, formatDuration } from "./expectation.ts";
import { isLabel, type LabelKind, Labels, labelsOfDescription } from "./labels.ts";
import { referencesIn } from "./references.ts";
import { ACTIONS, everyStep, METHODS, type Scenario, type Step } from "./scenario-schema.ts";

type YamlPath = readonly (string | number)[];
export type ReportProblem = (path: YamlPath, message: string) => void;
type CheckContext = {
  /** `undefined` where nobody knows them before the run begins. */
  readonly labels: Labels | undefined;
  readonly captured: Set<string>;
  readonly steps: Set<string>;
  readonly snapshots: Set<string>;
  readonly unparsedNames: ReadonlySet<string>;
  readonly errorCodes: readonly string[] | undefined;
  /** How long the run goes on, where that is the furthest that its clock comes. */
  readonly length: DurationMs | undefined;
};
type CheckOptions = {
  /** What errors may be called; left out where nobody knows. */
  readonly errorCodes?: readonly string[] | undefined;
  /** Whether all that a key of the file has in it could be read. */
  readonly isParsed?: (key: string) => boolean;
  /** Names in what could not be read: nobody can say that they are not there. */
  readonly unparsedNames?: ReadonlySet<string>;
  /** All text in it, by its places in the file. */
  readonly unparsed?: {
    readonly texts: readonly { readonly path: YamlPath; readonly text: string }[];
    readonly report: ReportProblem;
  };
};

const MAX_ID_LENGTH = 60;

/** What each line may say and the file as a whole may not: labels that nothing has, names that come too late, and the like. */
export function checkScenario(
  scenario: Scenario,
  report: ReportProblem,
  { errorCodes, isParsed = () => true, unparsedNames = new Set(), unparsed }: CheckOptions = {},
): void {
  const { world, traffic, steps, length } = scenario;
  // What a file has in it is seen when it is opened.
  const isWorldKnown = isParsed("world") && world.file === undefined;
  // What takes the world back may be among what could not be read.
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
    report(["length"], "is needed where there are no steps: how long it goes on, like 1d");
  if (!mayRewind) checkPastTimes(scenario, report);
}

function collectLabels({ world }: Scenario, report: ReportProblem): Labels {
  const labels = new Labels();
  for (const labelled of labelsOfDescription(world)) {
    const { label } = labelled;
    if (labels.get(label) !== undefined) report(["world"], `the label "${label}" is there twice`);
    if (`ep-${label}`.length > MAX_ID_LENGTH)
      report(
        ["world"],
        `the label "${label}" is too long: with ep- before it, ${MAX_ID_LENGTH} characters at most`,
      );
    labels.add({ ...labelled, id: label });
  }
  return labels;
}

/** Codes that faults of this file answer with. */
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
    // What would come at the very end does not come.
    if (source.from !== undefined && "afterStart" in source.from && source.from.afterStart === context.length)
      reportLate(context, path, report);
    if (names.indexOf(source.name) !== index)
      report(
        [...path, "name"],
        `there is a source "${source.name}" already: each has a stream of chance by its name`,
      );
    if (source.pattern !== "replay") continue;
    const matches = new Set(
      patterns.flatMap((pattern) => context.labels?.computes(pattern) ?? []).map(({ label }) => label),
    );
    if (matches.size > 1)
      report(
        [...path, "to"],
        `is one compute in a replay, and this is ${listNames([...matches])}; say under computes what stands for which`,
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
            `there is no branch "${parent}" above this one`,
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
  if (at !== undefined && after !== undefined) report(path, "has both at and after; leave one out");
  const checkReferencesAt = (value: unknown, at: YamlPath) => checkReferences(value, context, at, report);
  const checkAccount = (label: string | undefined, at: YamlPath) => {
    if (label !== undefined && context.labels !== undefined && context.labels.get(label)?.kind !== "account")
      report(at, `there is no account "${label}"; there are ${listLabels(context, "account")}`);
  };
  const stepName = after?.step;
  if (stepName !== undefined && !context.steps.has(stepName) && !context.unparsedNames.has(stepName))
    report([...path, "after"], `there is no step "${stepName}" above this one`);
  if (request !== undefined) {
    for (const key of ["path", "body", "key"] as const)
      checkReferencesAt(request[key], [...path, "request", key]);
    checkAccount(request.as, [...path, "request", "as"]);
    for (const captured of Object.keys(request.capture ?? {})) {
      if (context.labels?.get(captured) !== undefined)
        report([...path, "request", "capture", captured], `"${captured}" is a label already`);
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
    report([...path, "restore"], `no step above takes a snapshot "${restore}"`);
  if (expect !== undefined) checkExpectations(expect, context, [...path, "expect"], report);
  if (step.repeat !== undefined) checkSteps(step.repeat.steps, context, [...path, "repeat", "steps"], report);
  for (const [sequence, steps] of (step.parallel ?? []).entries())
    checkSteps(steps, context, [...path, "parallel", sequence], report);
  if (name !== undefined) context.steps.add(name);
}

function checkReferences(value: unknown, context: CheckContext, path: YamlPath, report: ReportProblem): void {
  for (const reference of referencesIn(value)) {
    if (
      context.labels === undefined ||
      context.captured.has(reference) ||
      context.unparsedNames.has(reference)
    )
      continue;
    if (context.labels.get(reference) === undefined)
      report(
        path,
        `{${reference}} is neither a label nor captured above; ${describeKnownNames(context)}; {{${reference}}} is the text itself`,
      );
  }
}

/** Where a step refers to things in braces. */
const REFERENCING_KEYS = /\.(request\.(path|body|key)|activity\.to|fault)\b/;

/** A name beside what is wrong in an entry. What is captured anywhere is known to it: nobody can say what is above it. */
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

/** Of the same kind: an instant and a duration are compared when the run begins. */
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
    report([...path, "until"], "must be after the start");
  if (from === undefined || until === undefined) return;
  const isEmpty =
    "instant" in from && "instant" in until
      ? from.instant >= until.instant
      : "afterStart" in from && "afterStart" in until && from.afterStart >= until.afterStart;
  if (isEmpty) report([...path, "until"], "must be after from");
}

function reportLate({ length = 0 }: CheckContext, path: YamlPath, report: ReportProblem): void {
  report([...path, "from"], `the run is over by then: it goes on for ${formatDuration(length)}`);
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
      report(place, "from and until are for what is watched, under always and never");
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

/** What may be told apart in a count; `undefined` where that is not among a few. */
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

/** What is counted under a name that nothing has is always none. An answer that is no error has an empty code. */
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
    `there is no ${key} "${text}"; ${suggestion === undefined ? `there are ${listNames(allowed)}` : `did you mean "${suggestion}"?`}`,
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
      report(path, `"${pattern}" is no compute; there are ${listLabels(context, "compute")}`);
  }
}

/** Where one is meant, a branch stands for its first; a project, or many, for none. */
function checkCompute(label: string, context: CheckContext, path: YamlPath, report: ReportProblem): void {
  const kind = context.labels?.get(label)?.kind;
  const matches = context.labels?.computes(label) ?? [];
  if (kind === "compute" || kind === "branch" || matches.length === 0)
    checkComputes([label], context, path, report);
  else report(path, `"${label}" is not one compute; there are ${listNames(matches.map((one) => one.label))}`);
}

const MAX_LISTED = 8;

function listLabels({ labels }: CheckContext, kind: LabelKind): string {
  return listNames((labels?.all() ?? []).filter((one) => one.kind === kind).map(({ label }) => label));
}

function describeKnownNames({ labels, captured }: CheckContext): string {
  return `known are ${listNames([...(labels?.all() ?? []).map(({ label }) => label), ...captured])}`;
}

/** The first of some names, as told to a user. */
export function listNames(names: readonly string[]): string {
  return names.length === 0
    ? "none"
    : names.slice(0, MAX_LISTED).join(", ") + (names.length > MAX_LISTED ? ", …" : "");
}
