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
import { rethrowRangeError, runWithProgress } from "../terminal/run-with-progress.ts";
import { toCsv } from "../whatif/csv-output.ts";
import { resolvedQuestionFlags } from "../whatif/manifest.ts";
import { addTraceOptions, openTraces, type TraceOptions } from "../whatif/open-traffic.ts";
import {
  addOutputOptions,
  addQuestionOptions,
  type OutputOptions,
  parseDelayOption,
  parseLatencyOption,
  type QuestionOptions,
  questionFromOptions,
} from "../whatif/question-options.ts";
import { outputResult } from "../whatif/report-output.ts";

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

/** How many computes start at once, and what a limit of that, or a pool of prepared ones, does to waits. */
export function startsCommand(): Command {
  const command = new Command("starts").description(
    "how many computes start at once, what requests wait for it, and what limits do to that",
  );
  addTraceOptions(command);
  addQuestionOptions(command)
    .addOption(
      new Option(
        "--delay <delay>",
        "under this delay: 300 (a bare number is seconds), 5m, never (default: the present one)",
      ).argParser(parseDelayOption),
    )
    .addOption(
      new Option(
        "--max-concurrent-starts <n>",
        "so many starts may be under way at once; again and again to compare",
      ).argParser(addStartLimit),
    )
    .addOption(
      new Option("--pool <n>", "so many computes are kept prepared").argParser(integerParser(1, MAX_STARTS)),
    )
    .addOption(
      new Option(
        "--refill <duration>",
        "how long it takes to prepare another one: 30s; a bare number is milliseconds",
      ).argParser(parseDurationOption),
    )
    .addOption(
      new Option(
        "--prepared-latency <time>",
        "how long a start takes that gets a prepared one, like --start-latency: 300ms; a bare number is milliseconds",
      ).argParser(parseLatencyOption),
    );
  return addOutputOptions(command)
    .addHelpText(
      "after",
      `
A pool needs all three of --pool, --refill and --prepared-latency; a start that finds it empty takes --start-latency.

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
    const question = questionFromOptions(options, opened.world);
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
    throw new CliError("a pool needs all three of --pool, --refill and --prepared-latency", true);
  return { size: pool, refillMs: refill, latency: preparedLatency };
}

function addStartLimit(text: string, previous: readonly number[] | undefined): readonly number[] {
  return [...new Set([...(previous ?? []), integerParser(1, MAX_STARTS)(text)])];
}

/** Starts of each minute that has any, with nothing shared and under each limit. */
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
