import { closestMatch, listNames } from "../../kernel/text.ts";
import { Labels } from "../file/labels.ts";
import type { Scenario } from "../file/scenario-schema.ts";
import { ACTIONS, everyStep, type Step } from "../file/step-schema.ts";
import { labelsOfDescription } from "../file/world-description.ts";
import { checkExpectations, checkWindow, reportLate } from "./expectations.ts";
import {
  type CheckContext,
  checkCompute,
  checkComputes,
  checkMeasuredLabel,
  checkReferences,
  type ReportProblem,
  type YamlPath,
} from "./names.ts";
import { checkSteps } from "./steps.ts";
import { checkPastTimes, rewindsClock } from "./times.ts";

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
  if (isParsed("world") && isParsed("steps")) checkSqlClock(scenario, report);
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

function checkSqlClock({ world, steps }: Scenario, report: ReportProblem): void {
  if (world.sql_clock === "world" && ![...everyStep(steps)].some(({ sql }) => sql !== undefined))
    report(["world", "sql_clock"], "has no effect without sql steps; leave it out");
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
