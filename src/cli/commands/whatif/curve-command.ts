import type { Command } from "commander";
import { randomFrom } from "../../../simulation/random.ts";
import { CLIENT_FORMS } from "../../../whatif/coupled/client-forms.ts";
import type { DelayChoice, SuspendDelay } from "../../../whatif/gap-curve/delay.ts";
import { MAX_DELAYS_TRIED } from "../../../whatif/gap-curve/optimum.ts";
import { splitDays } from "../../../whatif/held-out/day-split.ts";
import type { Question } from "../../../whatif/input/question.ts";
import { CurveAnswer } from "../../../whatif/questions/curve/curve-answer.ts";
import { curvePage, delayLines } from "../../../whatif/questions/curve/curve-page.ts";
import { simulateDelays } from "../../../whatif/questions/curve/curve-simulation.ts";
import type { CurveSummary } from "../../../whatif/questions/curve/curve-summary.ts";
import { NO_LATENCY } from "../../../whatif/units/start-latency.ts";
import { CliError } from "../../terminal/cli-error.ts";
import { rethrowRangeError, runWithProgress } from "../../terminal/run-with-progress.ts";
import { curveFiles } from "../../whatif/curve-csv.ts";
import { openCurveInput } from "../../whatif/databases/open-curve-input.ts";
import { checkIgnoredWaits } from "../../whatif/ignore-waits-option.ts";
import { questionManifest } from "../../whatif/manifest.ts";
import { type Answered, type QuestionRun, questionCommand } from "../../whatif/question-command.ts";
import { questionFromOptions } from "../../whatif/question-options.ts";
import { readGaps, replayAll } from "../../whatif/replay-workers.ts";
import { answerCurveFromAccount as answerAccount } from "./curve-from-account.ts";
import { addCurveOptions, type CurveOptions, curveFromOption } from "./curve-options.ts";

export function curveCommand(): Command {
  return questionCommand<CurveOptions, void>({
    name: "curve",
    description:
      "compute the cost of every autosuspend delay in one pass, exact for the recorded instants and durations",
    fromOption: curveFromOption(),
    addOptions: addCurveOptions,
    help: HELP,
    prepare({ delay, out }) {
      if (delay !== undefined && out !== undefined)
        throw new CliError("--delay prints figures only and cannot be combined with --out", true);
    },
    open: openCurveInput,
    answer: answerCurve,
    answerAccount,
  });
}

const HELP = `
A cold start is an arrival after a gap longer than the delay, when the compute is
suspended. Figures that include the start latency come from a replay; in JSON they
are in "with_latency".

Clients for --client behave differently under each delay, so the curve cannot
include them. Each delay named in the result is simulated with them. A number
without a unit is milliseconds.
${CLIENT_FORMS.map(({ form, meaning }) => `  ${form.padEnd(40)} ${meaning}`).join("\n")}

A database of --from counts the gaps between requests itself, and only reads:
  duckdb:FILE                            needs the package @duckdb/node-api; duckdb: alone for files
  postgres://user:password@host/database
  clickhouse://user:password@host:8123/database, or clickhouses:// for HTTPS

Examples:
  $ standin whatif fleet --computes 200 --days 7 --seed 1 --out fleet.csv
  $ standin whatif curve fleet.csv --present 300 --cu 0.25 --price 0.222
  $ standin whatif curve fleet.csv --delay 300 --json
  $ psql -c "copy calls to stdout csv header" | standin whatif curve -
  $ standin whatif curve fleet.csv --max-cold-per-day 500 --out report/
  $ standin whatif curve fleet.csv --fast
  $ standin whatif curve calls.csv --ignore-waits-of health-check
  $ standin whatif curve fleet.csv --max-wait-p99 500ms --by-compute
  $ standin whatif curve fleet.csv --train 14d --test 7d
  $ standin whatif curve fleet.csv --client subscriber:reconnect=5s --client check:every=1d
  $ standin whatif curve --data ./.standin --by-compute
  $ standin whatif curve shop.standin-account --plan scale
  $ standin whatif curve --from duckdb:logs.duckdb --table calls --map endpoint=db,at=at,duration=ms
  $ psql --csv -f gaps.sql | standin whatif curve --gaps -`;

type CurveRun = QuestionRun<CurveOptions, void>;

async function answerCurve(run: CurveRun): Promise<Answered> {
  const { opened, options } = run;
  checkIgnoredWaits(options, opened.traffic);
  const { question } = questionFromOptions(
    // Gap rows do not say which requests wait for a start.
    opened.traffic.gapRows === undefined ? options : { ...options, startLatency: NO_LATENCY },
    opened.world,
  );
  const answer = await readAnswer(run, question);
  if (options.delay !== undefined) return { text: await delayOutput(options.delay, run, question, answer) };
  const summary = await summarize(run, question, answer);
  return {
    summary,
    page: curvePage(summary),
    charts: async () =>
      (await import("../../../whatif/questions/curve/curve-charts.ts")).curveCharts(
        summary,
        (delay) => answer.figuresAt(delay),
        answer.activeSecondsByDay([summary.present.delay_s, summary.best.delay_s]),
      ),
    files: () => curveFiles(answer, summary),
    ...questionManifest(question, opened),
  };
}

/** Reads the gaps, and replays the delays that the answer names. */
async function readAnswer({ opened, options, signal }: CurveRun, question: Question): Promise<CurveAnswer> {
  const workers = opened.traffic.gapRows === undefined ? options.workers : 1;
  const detail = { byCompute: includesComputes(options), byDay: true };
  const reading = await readGaps(opened, question, detail, workers, signal);
  const answer = new CurveAnswer(opened.traffic, reading, question, randomFrom(question.seed), options.fast);
  const named = options.delay === undefined ? answer.namedDelays : [options.delay];
  answer.storeOutcomes(named, await replayAll(opened, answer.jobs(named), question, workers, signal));
  return answer;
}

function includesComputes({ byCompute, out }: CurveOptions): boolean {
  return byCompute === true || out !== undefined;
}

async function delayOutput(
  delay: SuspendDelay,
  run: CurveRun,
  question: Question,
  answer: CurveAnswer,
): Promise<string> {
  const simulated = await simulateClients([delay], run, question, answer);
  const figures = {
    ...answer.delay(delay),
    ...simulated?.delays.map((with_clients) => ({ with_clients }))[0],
  };
  return run.options.json === true
    ? `${JSON.stringify(figures, null, 2)}\n`
    : `${delayLines(figures).join("\n")}\n`;
}

async function summarize(run: CurveRun, question: Question, answer: CurveAnswer): Promise<CurveSummary> {
  const { opened, options, signal } = run;
  const { maxColdPerDay, maxWaitP99: maxWaitP99Ms, maxCost: maxCostPerMonth, train, test } = options;
  const limits = { maxColdPerDay, maxWaitP99Ms, maxCostPerMonth };
  const split = { train, test };
  const computes = opened.traffic.computes.length;
  // Before the simulation, which takes long.
  if (train !== undefined || test !== undefined) usageErrorOf(() => splitDays(opened.traffic.period, split));
  if (maxWaitP99Ms !== undefined) {
    const most = MAX_DELAYS_TRIED * computes;
    await runWithProgress(answer.search(limits), "searching for a delay", most, signal);
  }
  if (maxWaitP99Ms !== undefined && includesComputes(options)) {
    const search = answer.searchComputes(maxWaitP99Ms);
    await runWithProgress(search, "searching for delays of computes", computes, signal);
  }
  const simulated = await simulateClients(answer.namedDelaysWithin(limits), run, question, answer);
  return usageErrorOf(() => answer.summary(limits, simulated, split));
}

/** Undefined without clients. */
async function simulateClients(
  delays: readonly DelayChoice[],
  { opened, options: { client: clients }, signal }: CurveRun,
  question: Question,
  answer: CurveAnswer,
): Promise<CurveSummary["with_clients"]> {
  if (clients === undefined) return undefined;
  const work = simulateDelays(
    opened.traffic,
    question,
    answer,
    { delays, clients },
    randomFrom(question.seed),
  );
  return {
    clients: clients.map(({ name }) => name),
    delays: await runWithProgress(work, "simulating delays", delays.length, signal).catch(rethrowRangeError),
  };
}

/** Turns a `RangeError` about the options into a usage error. */
function usageErrorOf<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof RangeError) throw new CliError(error.message, true);
    throw error;
  }
}
