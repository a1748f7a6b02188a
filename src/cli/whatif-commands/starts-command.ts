import { Command, Option } from "commander";
import { isoInstant } from "../../platform/core/calendar.ts";
import { MINUTE } from "../../platform/core/time.ts";
import { randomFrom } from "../../simulation/random.ts";
import type { SuspendDelay } from "../../whatif/curve/curve.ts";
import type { StartLatency } from "../../whatif/replay/start-latency.ts";
import { questionSummary } from "../../whatif/report/question.ts";
import { startsPage } from "../../whatif/starts/starts-page.ts";
import {
  type StartsAnswer,
  type StartsQuestion,
  startsReport,
  startsSteps,
} from "../../whatif/starts/starts-report.ts";
import { CliError } from "../terminal/cli-error.ts";
import { interruptible } from "../terminal/interrupt.ts";
import { integerParser, parseDurationOption } from "../terminal/option-parsers.ts";
import { RepeatableOption } from "../terminal/options.ts";
import { rethrowRangeError, runWithProgress } from "../terminal/run-with-progress.ts";
import { toCsv } from "../whatif/csv-output.ts";
import { resolvedQuestionFlags } from "../whatif/manifest.ts";
import { openTraces } from "../whatif/open-traffic.ts";
import {
  addOutputOptions,
  addQuestionOptions,
  DELAY_FORMS,
  type OutputOptions,
  parseDelayOption,
  parseLatencyOption,
  type QuestionOptions,
  questionFromOptions,
} from "../whatif/question-options.ts";
import { outputResult } from "../whatif/report-output.ts";
import { addTraceOptions, type TraceOptions } from "../whatif/trace-options.ts";

type StartsOptions = QuestionOptions &
  OutputOptions &
  TraceOptions & {
    readonly delay?: SuspendDelay;
    readonly maxConcurrentStarts?: readonly number[];
    readonly pool?: number;
    readonly refill?: number;
    readonly preparedLatency?: StartLatency;
  };

const MAX_STARTS = 1_000_000;

export function startsCommand(): Command {
  const command = new Command("starts").description(
    "show how many computes start at once, and how start limits and prepared computes affect waits",
  );
  addTraceOptions(command);
  addQuestionOptions(command)
    .addOption(
      new Option(
        "--delay <delay>",
        `autosuspend delay: ${DELAY_FORMS} (default: the current delay)`,
      ).argParser(parseDelayOption),
    )
    .addOption(
      new RepeatableOption(
        "--max-concurrent-starts <n>",
        "maximum number of concurrent starts; repeatable",
      ).argParser(addStartLimit),
    )
    .addOption(
      new Option("--pool <n>", "number of computes to keep prepared").argParser(integerParser(1, MAX_STARTS)),
    )
    .addOption(
      new Option(
        "--refill <duration>",
        "time to prepare another compute: 30s or 30000 (milliseconds)",
      ).argParser(parseDurationOption),
    )
    .addOption(
      new Option(
        "--prepared-latency <duration>",
        "start latency of a prepared compute: 300ms, 300 (milliseconds), or as in --start-latency",
      ).argParser(parseLatencyOption),
    );
  return addOutputOptions(command)
    .addHelpText(
      "after",
      `
A pool requires --pool, --refill and --prepared-latency. A start that finds the
pool empty takes --start-latency.

Examples:
  $ standin whatif fleet --computes 300 --days 3 --pattern cron --out jobs.csv
  $ standin whatif starts jobs.csv --start-latency measured
  $ standin whatif starts jobs.csv --max-concurrent-starts 5 --max-concurrent-starts 20 --out report/
  $ standin whatif starts jobs.csv --start-latency 3s --pool 20 --refill 30s --prepared-latency 300ms`,
    )
    .action(async (paths: string[], options: StartsOptions, invokedCommand: Command) =>
      interruptible((signal) => runStarts(paths, options, invokedCommand, signal)),
    );
}

async function runStarts(
  paths: readonly string[],
  options: StartsOptions,
  command: Command,
  signal: AbortSignal,
): Promise<void> {
  const pool = poolOf(options);
  const opened = await openTraces(paths, options, command, signal);
  try {
    const { traffic, inputSummary } = opened;
    const { question } = await questionFromOptions(options, opened.world);
    const startsQuestion: StartsQuestion = {
      delay: options.delay ?? question.currentDelay,
      concurrent: options.maxConcurrentStarts ?? [],
      pool,
    };
    const work = startsReport(traffic, question, startsQuestion, randomFrom(question.seed));
    const answer = await runWithProgress(
      work,
      "simulating computes",
      startsSteps(traffic, startsQuestion),
      signal,
    ).catch(rethrowRangeError);
    const result = {
      summary: { ...answer.report, input: inputSummary },
      page: startsPage(answer.report),
      charts: async () =>
        (await import("../../whatif/starts/starts-charts.ts")).startsCharts(answer, traffic.period),
      files: () => ({ "starts-by-minute.csv": minutesCsv(answer, traffic.period.startAt) }),
    };
    await outputResult(
      result,
      {
        command,
        resolvedFlags: resolvedQuestionFlags(question, opened),
        inputs: inputSummary.files,
        question: questionSummary(question),
      },
      options,
    );
  } finally {
    opened.close();
  }
}

function poolOf({ pool, refill, preparedLatency }: StartsOptions): StartsQuestion["pool"] {
  if (pool === undefined && refill === undefined && preparedLatency === undefined) return undefined;
  if (pool === undefined || refill === undefined || preparedLatency === undefined)
    throw new CliError("a pool requires all of --pool, --refill and --prepared-latency", true);
  return { size: pool, refillMs: refill, latency: preparedLatency };
}

function addStartLimit(text: string, previous: readonly number[] | undefined): readonly number[] {
  return [...new Set([...(previous ?? []), integerParser(1, MAX_STARTS)(text)])];
}

/** Starts per minute, without a limit and under each limit; minutes without starts are omitted. */
function minutesCsv({ report, series }: StartsAnswer, startAt: number): string {
  const names = report.rows.map(({ max_concurrent_starts: limit }) =>
    limit === null ? "starts" : `starts_at_most_${limit}`,
  );
  const rows: (string | number)[][] = [];
  for (let minute = 0; minute < (series[0]?.perMinute.length ?? 0); minute += 1) {
    const counts = series.map(({ perMinute }) => perMinute[minute] as number);
    if (counts.some((count) => count > 0)) rows.push([isoInstant(startAt + minute * MINUTE), ...counts]);
  }
  return toCsv(
    [
      "minute",
      ...(report.rows.length === 2 && names[1] === "starts" ? ["starts", "starts_with_pool"] : names),
    ],
    rows,
  );
}
