import { Command, Option } from "commander";
import { randomFrom } from "../../../simulation/random.ts";
import { CLIENT_FORMS, type ClientForm } from "../../../whatif/coupled/client-forms.ts";
import type { DelayChoice, SuspendDelay } from "../../../whatif/gap-curve/curve.ts";
import { MAX_DELAYS_TRIED } from "../../../whatif/gap-curve/optimum.ts";
import { type DaySpan, splitDays } from "../../../whatif/held-out/day-split.ts";
import { questionSummary } from "../../../whatif/input/question-summary.ts";
import { CurveAnswer } from "../../../whatif/questions/curve/curve-answer.ts";
import { curvePage, delayLines } from "../../../whatif/questions/curve/curve-page.ts";
import { type SimulatedFigures, simulateDelays } from "../../../whatif/questions/curve/curve-simulation.ts";
import type { DelayFigures } from "../../../whatif/questions/curve/curve-summary.ts";
import { meanLatencyMs } from "../../../whatif/units/mean-latency.ts";
import { NO_LATENCY } from "../../../whatif/units/start-latency.ts";
import { CliError } from "../../terminal/cli-error.ts";
import { interruptible } from "../../terminal/interrupt.ts";
import { parseBytesOption, parseMillisecondsOption } from "../../terminal/option-parsers.ts";
import { RepeatableOption } from "../../terminal/options.ts";
import { print } from "../../terminal/print.ts";
import { rethrowRangeError, runWithProgress } from "../../terminal/run-with-progress.ts";
import { recordsCsv } from "../../whatif/csv-output.ts";
import { curveCsv } from "../../whatif/curve-csv.ts";
import { parseFromOption } from "../../whatif/databases/gap-sql-database.ts";
import { type CurveInputOptions, openCurveInput } from "../../whatif/databases/open-curve-input.ts";
import { resolvedQuestionFlags } from "../../whatif/manifest.ts";
import {
  addOutputOptions,
  addQuestionOptions,
  coldStartOrDollarsOption,
  DELAY_FORMS,
  numberAtLeast,
  type OutputOptions,
  parseDelayOption,
  type QuestionOptions,
  questionFromOptions,
  waitWorthOption,
  workersOption,
} from "../../whatif/question-options.ts";
import { readGaps, replayAll } from "../../whatif/replay-workers.ts";
import { outputResult } from "../../whatif/report-output.ts";
import { addTraceOptions } from "../../whatif/trace-options.ts";
import { addClient, parseDaySpanOption } from "./curve-option-parsers.ts";

type CurveOptions = QuestionOptions &
  OutputOptions &
  CurveInputOptions & {
    readonly delay?: SuspendDelay;
    readonly byCompute?: boolean;
    readonly maxColdPerDay?: number;
    readonly maxWaitP99?: number;
    readonly maxCost?: number;
    readonly train?: DaySpan;
    readonly test?: DaySpan;
    readonly client?: readonly ClientForm[];
    readonly workers: number;
  };

export function curveCommand(): Command {
  const command = new Command("curve").description(
    "compute the cost of every autosuspend delay in one pass, exact for the recorded instants and durations",
  );
  addTraceOptions(
    command,
    new RepeatableOption(
      "--from <instant or database>",
      "start of the period to analyze, inclusive; or the database that counts the gaps, see below",
    ).argParser(parseFromOption),
  );
  addQuestionOptions(command, ["coldStartWorth"])
    .addOption(
      new RepeatableOption(
        "--gaps <file>",
        "answer from the result of the query of whatif sql instead of from traces; - for stdin, repeatable",
      ).argParser((path: string, previous: readonly string[] | undefined) => [...(previous ?? []), path]),
    )
    .addOption(coldStartOrDollarsOption())
    .addOption(waitWorthOption())
    .addOption(new Option("--table <name>", "table of the requests in the database of --from; not quoted"))
    .addOption(
      new Option(
        "--memory <size>",
        "memory that the database of --from may use, such as 4GiB; the rest is on its disk (default: its own limit)",
      ).argParser(parseBytesOption),
    )
    .addOption(
      new Option("--delay <delay>", `print the figures of this delay only: ${DELAY_FORMS}`)
        .argParser(parseDelayOption)
        .conflicts(["byCompute", "maxColdPerDay", "maxWaitP99", "maxCost", "train", "test"]),
    )
    .addOption(new Option("--by-compute", "rank the computes by the gain from a delay of their own"))
    .addOption(
      new Option(
        "--max-cold-per-day <n>",
        "find the cheapest delay with at most this many cold starts per day, over all computes",
      ).argParser(numberAtLeast(0)),
    )
    .addOption(
      new Option(
        "--max-wait-p99 <duration>",
        "find the cheapest delay with at most this 99th percentile of added wait: 500 (milliseconds) or 1s; with --by-compute, also that of each compute",
      ).argParser(parseMillisecondsOption),
    )
    .addOption(
      new Option(
        "--max-cost <dollars>",
        "consider only delays that cost at most this much per month of 730 hours",
      ).argParser(numberAtLeast(0)),
    )
    .addOption(
      new Option(
        "--train <days>",
        "days before those of --test that delays are chosen on: 14d, 50% or a first date (default: all)",
      ).argParser(parseDaySpanOption),
    )
    .addOption(
      new Option(
        "--test <days>",
        "last whole days (UTC), that the chosen delays are judged on: 7d, 30% or a first date (default: the last third)",
      ).argParser(parseDaySpanOption),
    )
    .addOption(
      new RepeatableOption(
        "--client <form>",
        "also simulate this client at each compute; repeatable, see below",
      ).argParser(addClient),
    )
    .addOption(workersOption());
  return addOutputOptions(command)
    .addHelpText(
      "after",
      `
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
  $ standin whatif curve fleet.csv --max-wait-p99 500ms --by-compute
  $ standin whatif curve fleet.csv --train 14d --test 7d
  $ standin whatif curve fleet.csv --client subscriber:reconnect=5s --client check:every=1d
  $ standin whatif curve --data ./.standin --by-compute
  $ standin whatif curve --from duckdb:logs.duckdb --table calls --map endpoint=db,at=at,duration=ms
  $ psql --csv -f gaps.sql | standin whatif curve --gaps -`,
    )
    .action(async (paths: string[], options: CurveOptions, invokedCommand: Command) =>
      interruptible((signal) => runCurve(paths, options, invokedCommand, signal)),
    );
}

async function runCurve(
  paths: readonly string[],
  options: CurveOptions,
  command: Command,
  signal: AbortSignal,
): Promise<void> {
  if (options.delay !== undefined && options.out !== undefined)
    throw new CliError("--delay prints figures only and cannot be combined with --out", true);
  const opened = await openCurveInput(paths, options, command, signal);
  const hasOnlyGaps = opened.traffic.gapRows !== undefined;
  try {
    const { question } = await questionFromOptions(
      // Gap rows do not say which requests wait for a start.
      hasOnlyGaps ? { ...options, startLatency: NO_LATENCY } : options,
      opened.world,
    );
    const byCompute = options.byCompute === true || options.out !== undefined;
    const { currentDelay, ownDelays, deletedAt, costs } = question;
    const startMs = meanLatencyMs(question.latency);
    const readingOptions = { currentDelay, ownDelays, deletedAt, costs, startMs, byCompute, byDay: true };
    const workers = hasOnlyGaps ? 1 : options.workers;
    const reading = await readGaps(opened, readingOptions, workers, signal);
    const answer = new CurveAnswer(opened.traffic, reading, question, randomFrom(question.seed));
    const named = options.delay === undefined ? answer.namedDelays : [options.delay];
    answer.storeOutcomes(named, await replayAll(opened, answer.jobs(named), question, workers, signal));
    const withClients = async (delays: readonly DelayChoice[]) => {
      const { client: clients } = options;
      if (clients === undefined) return undefined;
      const simulationInput = { delays, clients };
      const work = simulateDelays(
        opened.traffic,
        question,
        answer,
        simulationInput,
        randomFrom(question.seed),
      );
      return {
        clients: clients.map(({ name }) => name),
        delays: await runWithProgress(work, "simulating delays", delays.length, signal).catch(
          rethrowRangeError,
        ),
      };
    };
    if (options.delay !== undefined) {
      const simulated = await withClients(named);
      return printDelay(
        { ...answer.delay(options.delay), ...simulated?.delays.map((with_clients) => ({ with_clients }))[0] },
        options.json === true,
      );
    }
    const limits = {
      maxColdPerDay: options.maxColdPerDay,
      maxWaitP99Ms: options.maxWaitP99,
      maxCostPerMonth: options.maxCost,
    };
    const { train, test } = options;
    const split = { train, test };
    // Before the simulation, which takes long.
    if (train !== undefined || test !== undefined)
      summaryOrError(() => splitDays(opened.traffic.period, split));
    if (options.maxWaitP99 !== undefined)
      await runWithProgress(
        answer.search(limits),
        "searching for a delay",
        MAX_DELAYS_TRIED * opened.traffic.computes.length,
        signal,
      );
    if (options.maxWaitP99 !== undefined && byCompute)
      await runWithProgress(
        answer.searchComputes(options.maxWaitP99),
        "searching for delays of computes",
        opened.traffic.computes.length,
        signal,
      );
    const simulated = await withClients(answer.namedDelaysWithin(limits));
    const summary = summaryOrError(() => answer.summary(limits, simulated, split));
    const result = {
      summary: { ...summary, input: opened.inputSummary },
      page: curvePage(summary),
      charts: async () =>
        (await import("../../../whatif/questions/curve/curve-charts.ts")).curveCharts(
          summary,
          (delay) => answer.figuresAt(delay),
          answer.activeSecondsByDay([summary.present.delay_s, summary.best.delay_s]),
        ),
      files: () => ({
        "curve.csv": curveCsv(answer, summary),
        "curve-by-compute.csv": recordsCsv(
          (summary.computes ?? []).flatMap(({ compute, cu, requests, curve: points, clairvoyant }) =>
            [...points, { delay_s: "clairvoyant", ...clairvoyant }].map((point) => ({
              compute,
              cu,
              requests,
              ...point,
            })),
          ),
        ),
      }),
    };
    await outputResult(
      result,
      {
        command,
        resolvedFlags: {
          ...resolvedQuestionFlags(question, opened),
          // The default worth of a cold start does not apply, and both options together are an error.
          ...(options.waitWorth === undefined ? {} : { "cold-start-worth": [] }),
        },
        inputs: opened.inputSummary.files,
        question: questionSummary(question),
      },
      options,
    );
  } finally {
    opened.close();
  }
}

function printDelay(
  figures: DelayFigures & { readonly with_clients?: SimulatedFigures },
  isJson: boolean,
): void {
  print(isJson ? `${JSON.stringify(figures, null, 2)}\n` : `${delayLines(figures).join("\n")}\n`);
}

function summaryOrError<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof RangeError) throw new CliError(error.message, true);
    throw error;
  }
}
