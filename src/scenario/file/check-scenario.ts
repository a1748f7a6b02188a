import { nearest } from "../../platform/core/text.ts";
import type { DurationMs } from "../../platform/core/time.ts";
import { EVENT_TYPES } from "../../platform/event-types.ts";
import { OPERATION_ACTIONS, type Operation } from "../../platform/operation/operation.ts";
import { findPastTimes, goesBack } from "./check-times.ts";
import { type Expectation, showDuration } from "./expectation.ts";
import { isLabel, type LabelKind, Labels, labelsOf } from "./labels.ts";
import { referencesIn } from "./references.ts";
import { ACTIONS, everyStep, METHODS, type Scenario, type Step } from "./scenario-schema.ts";

type Path = readonly (string | number)[];
export type Add = (path: Path, message: string) => void;
type Known = {
  /** `undefined` where nobody knows them before the run begins. */
  readonly labels: Labels | undefined;
  readonly captured: Set<string>;
  readonly steps: Set<string>;
  readonly snapshots: Set<string>;
  readonly unreadNames: ReadonlySet<string>;
  readonly errorCodes: readonly string[] | undefined;
  /** How long the run goes on, where that is the furthest that its clock comes. */
  readonly length: DurationMs | undefined;
};
type Reading = {
  /** What errors may be called; left out where nobody knows. */
  readonly errorCodes?: readonly string[] | undefined;
  /** Whether all that a key of the file has in it could be read. */
  readonly isRead?: (key: string) => boolean;
  /** Names in what could not be read: nobody can say that they are not there. */
  readonly unreadNames?: ReadonlySet<string>;
  /** All text in it, by its places in the file. */
  readonly unread?: { readonly texts: readonly { readonly path: Path; readonly text: string }[]; readonly add: Add };
};

const LONGEST_ID = 60;

/** What each line may say and the file as a whole may not: labels that nothing has, names that come too late, and the like. */
export function findContradictions(
  scenario: Scenario,
  add: Add,
  { errorCodes, isRead = () => true, unreadNames = new Set(), unread }: Reading = {},
): void {
  const { world, traffic, steps, length } = scenario;
  // What a file has in it is seen when it is opened.
  const isWorldKnown = isRead("world") && world.file === undefined;
  // What takes the world back may be among what could not be read.
  const mayGoBack = [...unreadNames].some((name) => ["restore", "control"].includes(nearest(name, ACTIONS) ?? ""));
  const known: Known = {
    labels: isWorldKnown ? labelsIn(scenario, add) : undefined,
    ...{ captured: new Set(), steps: new Set(), snapshots: new Set(), unreadNames },
    errorCodes: errorCodes && world.file === undefined ? [...errorCodes, ...codesIn(steps)] : undefined,
    length: mayGoBack || [...everyStep(steps)].some(goesBack) ? undefined : length,
  };
  if (isWorldKnown) findParents(scenario, add);
  checkTraffic(traffic, known, add);
  checkSteps(steps, known, ["steps"], add);
  for (const key of ["expect", "always", "never"] as const) checkExpectations(scenario[key], known, [key], add);
  for (const { path, text } of unread?.texts ?? []) checkUnread(text, known, path, unread?.add ?? add);
  if (length === undefined && steps.length === 0 && isRead("length") && isRead("steps"))
    add(["length"], "is needed where there are no steps: how long it goes on, like 1d");
  if (!mayGoBack) findPastTimes(scenario, add);
}

function labelsIn({ world }: Scenario, add: Add): Labels {
  const labels = new Labels();
  for (const labelled of labelsOf(world)) {
    const { label } = labelled;
    if (labels.get(label) !== undefined) add(["world"], `the label "${label}" is there twice`);
    if (`ep-${label}`.length > LONGEST_ID)
      add(["world"], `the label "${label}" is too long: with ep- before it, ${LONGEST_ID} characters at most`);
    labels.add({ ...labelled, id: label });
  }
  return labels;
}

/** Codes that faults of this file answer with. */
function codesIn(steps: readonly Step[]): string[] {
  const codes = (value: unknown): string[] =>
    typeof value !== "object" || value === null
      ? []
      : Object.entries(value).flatMap(([key, inner]) => (key === "code" && typeof inner === "string" ? [inner] : codes(inner)));
  return [...everyStep(steps)].flatMap(({ fault, control }) => codes([fault, control?.body]));
}

function checkTraffic(traffic: Scenario["traffic"], known: Known, add: Add): void {
  const names = traffic.map(({ name }) => name);
  for (const [index, source] of traffic.entries()) {
    const path = ["traffic", index];
    const patterns = [source.to].flat();
    checkComputes(patterns, known, [...path, "to"], add);
    checkWindow(source, known, path, add);
    // What would come at the very end does not come.
    if (source.from !== undefined && "afterStart" in source.from && source.from.afterStart === known.length) tellLate(known, path, add);
    if (names.indexOf(source.name) !== index)
      add([...path, "name"], `there is a source "${source.name}" already: each has a stream of chance by its name`);
    if (source.pattern !== "replay") continue;
    const meant = new Set(patterns.flatMap((pattern) => known.labels?.computes(pattern) ?? []).map(({ label }) => label));
    if (meant.size > 1)
      add([...path, "to"], `is one compute in a replay, and this is ${listed([...meant])}; say under computes what stands for which`);
    for (const [endpoint, label] of Object.entries(source.computes ?? {})) checkCompute(label, known, [...path, "computes", endpoint], add);
  }
}

function findParents({ world }: Scenario, add: Add): void {
  const places = [
    { projects: world.projects, path: ["world", "projects"] },
    ...Object.entries(world.accounts).map(([label, { projects }]) => ({ projects, path: ["world", "accounts", label, "projects"] })),
  ];
  for (const { projects, path } of places) {
    for (const [label, { branches }] of Object.entries(projects)) {
      const above: string[] = [];
      for (const [branch, { parent }] of Object.entries(branches)) {
        if (parent !== undefined && !above.includes(parent))
          add([...path, label, "branches", branch, "parent"], `there is no branch "${parent}" above this one`);
        above.push(branch);
      }
    }
  }
}

function checkSteps(steps: readonly Step[], known: Known, path: Path, add: Add): void {
  for (const [index, step] of steps.entries()) checkStep(step, known, [...path, index], add);
}

function checkStep(step: Step, known: Known, path: Path, add: Add): void {
  const { request, activity, expect, set, snapshot, restore, at, after, name } = step;
  if (at !== undefined && after !== undefined) add(path, "has both at and after; leave one out");
  const refer = (value: unknown, at: Path) => checkReferences(value, known, at, add);
  const account = (label: string | undefined, at: Path) => {
    if (label !== undefined && known.labels !== undefined && known.labels.get(label)?.kind !== "account")
      add(at, `there is no account "${label}"; there are ${namesOf(known, "account")}`);
  };
  const stepName = after?.step;
  if (stepName !== undefined && !known.steps.has(stepName) && !known.unreadNames.has(stepName))
    add([...path, "after"], `there is no step "${stepName}" above this one`);
  if (request !== undefined) {
    for (const key of ["path", "body", "key"] as const) refer(request[key], [...path, "request", key]);
    account(request.as, [...path, "request", "as"]);
    for (const captured of Object.keys(request.capture ?? {})) {
      if (known.labels?.get(captured) !== undefined) add([...path, "request", "capture", captured], `"${captured}" is a label already`);
      known.captured.add(captured);
    }
  }
  if (activity !== undefined) {
    if (activity.to.includes("{")) refer(activity.to, [...path, "activity", "to"]);
    else checkCompute(activity.to, known, [...path, "activity", "to"], add);
  }
  if (step.fault !== undefined) refer(step.fault, [...path, "fault"]);
  for (const label of Object.keys(set?.plan ?? {})) account(label, [...path, "set", "plan", label]);
  if (snapshot !== undefined) known.snapshots.add(snapshot);
  if (restore !== undefined && !known.snapshots.has(restore) && !known.unreadNames.has(restore))
    add([...path, "restore"], `no step above takes a snapshot "${restore}"`);
  if (expect !== undefined) checkExpectations(expect, known, [...path, "expect"], add);
  if (step.repeat !== undefined) checkSteps(step.repeat.steps, known, [...path, "repeat", "steps"], add);
  for (const [lane, steps] of (step.parallel ?? []).entries()) checkSteps(steps, known, [...path, "parallel", lane], add);
  if (name !== undefined) known.steps.add(name);
}

function checkReferences(value: unknown, known: Known, path: Path, add: Add): void {
  for (const reference of referencesIn(value)) {
    if (known.labels === undefined || known.captured.has(reference) || known.unreadNames.has(reference)) continue;
    if (known.labels.get(reference) === undefined)
      add(path, `{${reference}} is neither a label nor captured above; ${listOf(known)}; {{${reference}}} is the text itself`);
  }
}

/** Where a step refers to things in braces. */
const REFERRING = /\.(request\.(path|body|key)|activity\.to|fault)\b/;

/** A name beside what is wrong in an entry. What is captured anywhere is known to it: nobody can say what is above it. */
function checkUnread(text: string, known: Known, path: Path, add: Add): void {
  const keys = path.filter((part) => typeof part === "string");
  const [whose, key] = keys.slice(-2);
  if (key === "of") checkMeasured(text, known, path, add);
  else if (key === "to" && (whose === "traffic" || (whose === "activity" && !text.includes("{")))) checkComputes([text], known, path, add);
  else if (path[0] === "steps" && REFERRING.test(keys.join("."))) checkReferences(text, known, path, add);
}

type Window = Pick<Expectation, "from" | "until">;

/** Of the same kind: an instant and a duration are compared when the run begins. */
function checkWindow({ from, until }: Window, known: Known, path: Path, add: Add): void {
  if (from !== undefined && "afterStart" in from && from.afterStart > (known.length ?? Number.POSITIVE_INFINITY))
    tellLate(known, path, add);
  if (until !== undefined && "afterStart" in until && until.afterStart === 0) add([...path, "until"], "must be after the start");
  if (from === undefined || until === undefined) return;
  const isEmpty =
    "instant" in from && "instant" in until
      ? from.instant >= until.instant
      : "afterStart" in from && "afterStart" in until && from.afterStart >= until.afterStart;
  if (isEmpty) add([...path, "until"], "must be after from");
}

function tellLate({ length = 0 }: Known, path: Path, add: Add): void {
  add([...path, "from"], `the run is over by then: it goes on for ${showDuration(length)}`);
}

function checkExpectations(expectations: readonly Expectation[], known: Known, path: Path, add: Add): void {
  for (const [index, { of, measure, where, from, until }] of expectations.entries()) {
    const place = [...path, index];
    if (from !== undefined || until !== undefined) checkWindow({ from, until }, known, place, add);
    if ((from !== undefined || until !== undefined) && path[0] !== "always" && path[0] !== "never") {
      add(place, "from and until are for what is watched, under always and never");
    }
    for (const [key, value] of Object.entries(where))
      checkKind(key, kindsOf(`${measure} ${key}`, known), value, [...place, "with", key], add);
    if (of === undefined) continue;
    if (measure === "state") checkCompute(of, known, [...place, "of"], add);
    else checkMeasured(of, known, [...place, "of"], add);
  }
}

function checkMeasured(label: string, known: Known, path: Path, add: Add): void {
  if (known.labels !== undefined && known.labels.get(label) === undefined) add(path, `there is no "${label}"; ${listOf(known)}`);
}

const OPERATION_STATUSES = [
  "scheduling",
  "running",
  "finished",
  "failed",
  "cancelled",
] as const satisfies readonly Operation["state"]["status"][];

/** What may be told apart in a count; `undefined` where that is not among a few. */
function kindsOf(what: string, { errorCodes }: Known): readonly string[] | undefined {
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
function checkKind(key: string, kinds: readonly string[] | undefined, value: string | number, path: Path, add: Add): void {
  const text = String(value);
  if (kinds === undefined || text === "" || kinds.includes(text)) return;
  const meant = nearest(text, kinds);
  add(path, `there is no ${key} "${text}"; ${meant === undefined ? `there are ${listed(kinds)}` : `did you mean "${meant}"?`}`);
}

function checkComputes(patterns: readonly string[], known: Known, path: Path, add: Add): void {
  if (known.labels === undefined) return;
  for (const pattern of patterns) {
    if (!isLabel(pattern) || known.labels.computes(pattern).length === 0)
      add(path, `"${pattern}" is no compute; there are ${namesOf(known, "compute")}`);
  }
}

/** Where one is meant, a branch stands for its first; a project, or many, for none. */
function checkCompute(label: string, known: Known, path: Path, add: Add): void {
  const kind = known.labels?.get(label)?.kind;
  const meant = known.labels?.computes(label) ?? [];
  if (kind === "compute" || kind === "branch" || meant.length === 0) checkComputes([label], known, path, add);
  else add(path, `"${label}" is not one compute; there are ${listed(meant.map((one) => one.label))}`);
}

const SHOWN = 8;

function namesOf({ labels }: Known, kind: LabelKind): string {
  return listed((labels?.all() ?? []).filter((one) => one.kind === kind).map(({ label }) => label));
}

function listOf({ labels, captured }: Known): string {
  return `known are ${listed([...(labels?.all() ?? []).map(({ label }) => label), ...captured])}`;
}

/** The first of some names, as told to a user. */
export function listed(names: readonly string[]): string {
  return names.length === 0 ? "none" : names.slice(0, SHOWN).join(", ") + (names.length > SHOWN ? ", …" : "");
}
