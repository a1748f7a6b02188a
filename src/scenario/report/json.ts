import type { Shard } from "../../kernel/shard.ts";
import { jsonMeasureName, type MeasureName } from "../file/expectation.ts";
import type { CouldNotRun, ReportedVerdict, Verdict } from "../run/verdict.ts";

/** The JSON report. The same scenarios, values and seeds give the same bytes. */
export function jsonReport(runs: readonly (Verdict | CouldNotRun)[], shard?: Shard): string {
  return reportText(runs.map(withUnits), shard);
}

/** The text of a report whose runs are in the form of the report. */
export function reportText(runs: readonly (ReportedVerdict | CouldNotRun)[], shard?: Shard): string {
  const count = (kind: (typeof runs)[number]["verdict"]) =>
    runs.filter(({ verdict }) => verdict === kind).length;
  const could_not_run = count("could_not_run");
  const counts = {
    passed: count("passed"),
    failed: count("failed"),
    ...(could_not_run === 0 ? {} : { could_not_run }),
  };
  const text = JSON.stringify(
    { version: 2, ...(shard === undefined ? {} : { shard }), ...counts, runs },
    undefined,
    2,
  );
  return `${text.replaceAll(LIST_OF_NUMBERS, (list) => list.replaceAll(/\s+/g, ""))}\n`;
}

/** Names the measures with their units. The operations and faults of the run are in the HTML report only. */
function withUnits(run: Verdict | CouldNotRun): ReportedVerdict | CouldNotRun {
  if (run.verdict === "could_not_run") return run;
  const { operations, operations_left_out, faults, faults_left_out, ...rest } = run;
  const measures = Object.entries(run.measures).map(([name, value]) => [
    jsonMeasureName(name as MeasureName),
    value,
  ]);
  const expectations = run.expectations.map((expectation) => ({
    ...expectation,
    measure: jsonMeasureName(expectation.measure),
  }));
  return { ...rest, expectations, measures: Object.fromEntries(measures) };
}

/** Matches lists of numbers, so that a timeline takes one line instead of hundreds. */
const LIST_OF_NUMBERS = /\[(\s+[\d.]+,?)+\s+\]/g;
