import { parseArgs } from "node:util";
import { problemsOf } from "./check-list.ts";
import { AREAS, type PlantedBug } from "./planted-bug.ts";
import { PLANTED_BUGS } from "./planted-bugs.ts";
import { PlantedCopy, type TestOutcome } from "./planted-copy.ts";

/** `unclear`: the tests fail without the bug, too, or could not be run. */
type Finding = {
  readonly bug: PlantedBug;
  readonly result: "found" | "not found" | "unclear";
  /** The first test that failed, or why the result is unclear. */
  readonly detail?: string;
  readonly seconds: number;
};

const HELP = `Usage: npm run planted -- [options]

Plants one mistake at a time in a copy of the repository, and runs the tests that must find it.

  --list         lists the mistakes, and plants none
  --only <id>    plants this one; may be repeated
  --area <area>  plants those of an area (${AREAS.join(", ")}); may be repeated
  --json         prints JSON

Exits with 1 unless all are found.

  npm run planted -- --only head-mark-not-synced
`;
const INTERRUPTED = 130;
const USAGE_ERROR = 2;

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      list: { type: "boolean", default: false },
      only: { type: "string", multiple: true, default: [] },
      area: { type: "string", multiple: true, default: [] },
      json: { type: "boolean", default: false },
      help: { type: "boolean", short: "h", default: false },
    },
  });
  if (values.help) {
    process.stdout.write(HELP);
    return 0;
  }
  const { only, area, json } = values;
  const unknown = [
    ...only.filter((id) => PLANTED_BUGS.every((bug) => bug.id !== id)).map((id) => `--only: no bug "${id}"`),
    ...area
      .filter((name) => AREAS.every((known) => known !== name))
      .map((name) => `--area: expected one of ${AREAS.join(", ")}, got "${name}"`),
  ];
  if (unknown.length > 0) return fail(unknown, USAGE_ERROR);
  const bugs = PLANTED_BUGS.filter(
    (bug) => (only.length === 0 || only.includes(bug.id)) && (area.length === 0 || area.includes(bug.area)),
  );
  if (values.list) {
    process.stdout.write(json ? `${JSON.stringify(bugs, null, 2)}\n` : bugs.map(describe).join(""));
    return 0;
  }
  const problems = problemsOf(PLANTED_BUGS, process.cwd());
  if (problems.length > 0) return fail(problems, USAGE_ERROR);
  const interrupt = new AbortController();
  // Ctrl-C may come twice: from the terminal, and from the program that runs this one.
  for (const name of ["SIGINT", "SIGTERM"] as const) process.on(name, () => interrupt.abort());
  const findings = await plantAll(bugs, interrupt.signal, (finding) => {
    if (!json) process.stdout.write(line(finding));
  });
  const count = (result: Finding["result"]) => findings.filter((finding) => finding.result === result).length;
  if (json) process.stdout.write(`${JSON.stringify(findings.map(toJson), null, 2)}\n`);
  else
    process.stdout.write(
      `${interrupt.signal.aborted ? "interrupted: " : ""}${count("found")} of ${bugs.length} bugs found, ${count("not found")} not found, ${count("unclear")} unclear\n`,
    );
  if (interrupt.signal.aborted) return INTERRUPTED;
  return count("found") === bugs.length ? 0 : 1;
}

async function plantAll(
  bugs: readonly PlantedBug[],
  signal: AbortSignal,
  onFinding: (finding: Finding) => void,
): Promise<Finding[]> {
  const findings: Finding[] = [];
  const copy = new PlantedCopy(process.cwd());
  try {
    for (const test of new Set(bugs.map((bug) => bug.test))) {
      const found = bugs.filter((bug) => bug.test === test);
      const sound = await copy.runSound({ test, titles: titlesOf(found) }, signal);
      for (const bug of found) {
        const startedAt = performance.now();
        const finding = unclear(bug, sound) ?? outcome(await copy.runWith(bug, signal));
        if (signal.aborted) return findings;
        findings.push({ bug, ...finding, seconds: Math.round((performance.now() - startedAt) / 1_000) });
        onFinding(findings.at(-1) as Finding);
      }
    }
  } finally {
    copy.remove();
  }
  return findings;
}

/** `undefined`: all tests of the file. */
function titlesOf(bugs: readonly PlantedBug[]): string[] | undefined {
  const titles = bugs.flatMap((bug) => bug.titles ?? []);
  return titles.length < bugs.length ? undefined : titles;
}

type Result = Pick<Finding, "result" | "detail">;

/** Tests that fail without the bug find nothing. */
function unclear({ titles = "" }: PlantedBug, sound: TestOutcome): Result | undefined {
  if (sound.reason !== undefined) return { result: "unclear", detail: sound.reason };
  const failed = sound.failed.find((title) => title.includes(titles));
  return failed === undefined
    ? undefined
    : { result: "unclear", detail: `fails without the bug, too: ${failed}` };
}

function outcome({ failed, reason }: TestOutcome): Result {
  if (reason !== undefined) return { result: "unclear", detail: reason };
  const [first] = failed;
  return first === undefined ? { result: "not found" } : { result: "found", detail: first };
}

function describe({ id, area, breaks, test, titles }: PlantedBug): string {
  return `${id} (${area}): ${breaks}\n  ${test}${titles === undefined ? "" : ` -t "${titles}"`}\n`;
}

function line({ bug: { id, area, breaks }, result, detail, seconds }: Finding): string {
  const reason = detail === undefined ? breaks : detail;
  return `${result.padEnd(9)}  ${id} (${area}), ${seconds} s: ${reason}\n`;
}

function toJson({ bug, result, detail, seconds }: Finding) {
  return { id: bug.id, area: bug.area, result, detail: detail ?? null, seconds };
}

function fail(problems: readonly string[], status: number): number {
  for (const problem of problems) process.stderr.write(`${problem}\n`);
  return status;
}

process.exitCode = await main();
