import type { Expectation } from "./expectation.ts";
import { isLabel, type LabelKind, labelsOf } from "./labels.ts";
import { referencesIn } from "./references.ts";
import type { Scenario, Step } from "./scenario.ts";

type Path = readonly (string | number)[];
export type Add = (path: Path, message: string) => void;
type Known = {
  readonly kinds: ReadonlyMap<string, LabelKind>;
  readonly captured: Set<string>;
  readonly steps: Set<string>;
  readonly snapshots: Set<string>;
  readonly unreadable: ReadonlySet<string>;
};

const LONGEST_ID = 60;

/**
 * What each line may say and the file as a whole may not: labels that nothing has, names that come too late, and the like. Where `names`
 * are in a part of the file that cannot be read, nobody can say that they are not there.
 */
export function findContradictions(scenario: Scenario, add: Add, names: ReadonlySet<string> = new Set()): void {
  const labels = labelsOf(scenario.world);
  const kinds = new Map<string, LabelKind>();
  for (const { label, kind } of labels) {
    if (kinds.has(label)) add(["world"], `the label "${label}" is there twice`);
    if (`ep-${label}`.length > LONGEST_ID)
      add(["world"], `the label "${label}" is too long: with ep- before it, ${LONGEST_ID} characters at most`);
    kinds.set(label, kind);
  }
  // What a file has in it is seen when it is opened.
  if (scenario.world.file !== undefined) return;
  const known: Known = { kinds, captured: new Set(), steps: new Set(), snapshots: new Set(), unreadable: names };
  findParents(scenario, add);
  for (const [index, source] of scenario.traffic.entries()) {
    checkComputes([source.to].flat(), known, ["traffic", index, "to"], add);
    checkWindow(source, ["traffic", index], add);
  }
  const sources = scenario.traffic.map(({ name }) => name);
  for (const [index, name] of sources.entries()) {
    if (sources.indexOf(name) !== index)
      add(["traffic", index, "name"], `there is a source "${name}" already: each has a stream of chance by its name`);
  }
  checkSteps(scenario.steps, known, ["steps"], add);
  for (const key of ["expect", "always", "never"] as const) checkExpectations(scenario[key], known, [key], add);
  if (scenario.length === undefined && scenario.steps.length === 0)
    add(["length"], "is needed where there are no steps: how long it goes on, like 1d");
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
  const refer = (value: unknown, at: Path) => {
    for (const reference of referencesIn(value)) {
      if (!known.kinds.has(reference) && !known.captured.has(reference) && !known.unreadable.has(reference))
        add(at, `{${reference}} is neither a label nor captured above; ${listOf(known)}`);
    }
  };
  const account = (label: string | undefined, at: Path) => {
    if (label !== undefined && known.kinds.get(label) !== "account")
      add(at, `there is no account "${label}"; there are ${namesOf(known, "account")}`);
  };
  const stepName = after?.step;
  if (stepName !== undefined && !known.steps.has(stepName) && !known.unreadable.has(stepName))
    add([...path, "after"], `there is no step "${stepName}" above this one`);
  if (request !== undefined) {
    for (const key of ["path", "body", "key"] as const) refer(request[key], [...path, "request", key]);
    account(request.as, [...path, "request", "as"]);
    for (const captured of Object.keys(request.capture ?? {})) {
      if (known.kinds.has(captured)) add([...path, "request", "capture", captured], `"${captured}" is a label already`);
      known.captured.add(captured);
    }
  }
  if (activity !== undefined) {
    if (activity.to.includes("{")) refer(activity.to, [...path, "activity", "to"]);
    else checkComputes([activity.to], known, [...path, "activity", "to"], add);
  }
  if (step.fault !== undefined) refer(step.fault, [...path, "fault"]);
  for (const label of Object.keys(set?.plan ?? {})) account(label, [...path, "set", "plan", label]);
  if (snapshot !== undefined) known.snapshots.add(snapshot);
  if (restore !== undefined && !known.snapshots.has(restore) && !known.unreadable.has(restore))
    add([...path, "restore"], `no step above takes a snapshot "${restore}"`);
  if (expect !== undefined) checkExpectations(expect, known, [...path, "expect"], add);
  if (step.repeat !== undefined) checkSteps(step.repeat.steps, known, [...path, "repeat", "steps"], add);
  for (const [lane, steps] of (step.parallel ?? []).entries()) checkSteps(steps, known, [...path, "parallel", lane], add);
  if (name !== undefined) known.steps.add(name);
}

type Window = Pick<Expectation, "from" | "until">;

/** Of the same kind: an instant and a duration are compared when the run begins. */
function checkWindow({ from, until }: Window, path: Path, add: Add): void {
  if (from === undefined || until === undefined) return;
  const isEmpty =
    "instant" in from && "instant" in until
      ? from.instant >= until.instant
      : "afterStart" in from && "afterStart" in until && from.afterStart >= until.afterStart;
  if (isEmpty) add([...path, "until"], "must be after from");
}

function checkExpectations(expectations: readonly Expectation[], known: Known, path: Path, add: Add): void {
  for (const [index, { of, measure, from, until }] of expectations.entries()) {
    if (from !== undefined || until !== undefined) checkWindow({ from, until }, [...path, index], add);
    if ((from !== undefined || until !== undefined) && path[0] !== "always" && path[0] !== "never") {
      add([...path, index], "from and until are for what is watched, under always and never");
    }
    if (of === undefined) continue;
    if (measure === "state") checkComputes([of], known, [...path, index, "of"], add);
    else if (!known.kinds.has(of)) add([...path, index, "of"], `there is no "${of}"; ${listOf(known)}`);
  }
}

function checkComputes(patterns: readonly string[], known: Known, path: Path, add: Add): void {
  for (const pattern of patterns) {
    const depth = pattern.split("/").length;
    const expression = new RegExp(`^${pattern.replaceAll("*", "[a-z0-9-]*")}$`);
    const isMeant = (label: string) => expression.test(label.split("/").slice(0, depth).join("/"));
    const found = isLabel(pattern) && [...known.kinds].some(([label, kind]) => kind === "compute" && isMeant(label));
    if (!found) add(path, `"${pattern}" is no compute; there are ${namesOf(known, "compute")}`);
  }
}

const SHOWN = 8;

function namesOf({ kinds }: Known, kind: LabelKind): string {
  const names = [...kinds].filter(([, of]) => of === kind).map(([label]) => label);
  return names.length === 0 ? "none" : names.slice(0, SHOWN).join(", ") + (names.length > SHOWN ? ", …" : "");
}

function listOf(known: Known): string {
  const names = [...known.kinds.keys(), ...known.captured];
  return `known are ${names.slice(0, SHOWN).join(", ")}${names.length > SHOWN ? ", …" : ""}`;
}
