import { type Command, Option } from "commander";
import { isoInstant } from "../../../kernel/calendar.ts";
import { MINUTE } from "../../../kernel/time.ts";
import { randomFrom } from "../../../simulation/random.ts";
import type { SuspendDelay } from "../../../whatif/gap-curve/delay.ts";
import { MAX_POOL, type PoolTarget, smallestPool } from "../../../whatif/questions/starts/smallest-pool.ts";
import { startsPage } from "../../../whatif/questions/starts/starts-page.ts";
import {
  type StartsAnswer,
  startsReport,
  startsSteps,
} from "../../../whatif/questions/starts/starts-report.ts";
import type { StartsQuestion } from "../../../whatif/questions/starts/starts-runs.ts";
import type { StartLatency } from "../../../whatif/units/start-latency.ts";
import { CliError } from "../../terminal/cli-error.ts";
import { integerParser, parseMillisecondsOption } from "../../terminal/option-parsers.ts";
import { RepeatableOption } from "../../terminal/options.ts";
import { rethrowRangeError, runWithProgress } from "../../terminal/run-with-progress.ts";
import { toCsv } from "../../whatif/csv-output.ts";
import { questionManifest } from "../../whatif/manifest.ts";
import { openTraces } from "../../whatif/open-traffic.ts";
import { type Answered, type QuestionRun, questionCommand } from "../../whatif/question-command.ts";
import {
  addQuestionOptions,
  DELAY_FORMS,
  type OutputOptions,
  type QuestionOptions,
  questionFromOptions,
} from "../../whatif/question-options.ts";
import { parseDelayOption, parseLatencyOption, parseShareOption } from "../../whatif/question-values.ts";
import type { TraceOptions } from "../../whatif/trace-options.ts";

type StartsOptions = QuestionOptions &
  OutputOptions &
  TraceOptions & {
    readonly delay?: SuspendDelay;
    readonly maxConcurrentStarts?: readonly number[];
    readonly pool?: number;
    readonly targetMiss?: number;
    readonly refill?: number;
    readonly preparedLatency?: StartLatency;
  };

const MAX_STARTS = 1_000_000;
/** Most pools that a search by doubling and bisection tries. */
const MAX_POOLS_TRIED = 2 * Math.ceil(Math.log2(MAX_POOL));

export function startsCommand(): Command {
  return questionCommand<StartsOptions, void>({
    name: "starts",
    description:
      "show how many computes start at once, and how start limits and prepared computes affect waits",
    addOptions: addStartsOptions,
    help: `
A pool requires --pool or --target-miss, --refill and --prepared-latency. A start
that finds the pool empty takes --start-latency.

Examples:
  $ standin whatif fleet --computes 300 --days 3 --pattern cron --out jobs.csv
  $ standin whatif starts jobs.csv --start-latency measured
  $ standin whatif starts jobs.csv --max-concurrent-starts 5 --max-concurrent-starts 20 --out report/
  $ standin whatif starts jobs.csv --start-latency 3s --pool 20 --refill 30s --prepared-latency 300ms
  $ standin whatif starts jobs.csv --start-latency 3s --target-miss 1% --refill 30s --prepared-latency 300ms`,
    prepare: checkPoolOptions,
    open: openTraces,
    answer: answerStarts,
  });
}

function addStartsOptions(command: Command): void {
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
        "--target-miss <share>",
        "find the smallest pool that at most this share of starts find empty, such as 1% or 0.01; instead of --pool",
      )
        .argParser(parseShareOption)
        .conflicts(["pool", "maxConcurrentStarts"]),
    )
    .addOption(
      new Option(
        "--refill <duration>",
        "time to prepare another compute: 30s or 30000 (milliseconds)",
      ).argParser(parseMillisecondsOption),
    )
    .addOption(
      new Option(
        "--prepared-latency <duration>",
        "start latency of a prepared compute: 300ms, 300 (milliseconds), or as in --start-latency",
      ).argParser(parseLatencyOption),
    );
}

async function answerStarts({
  opened,
  options,
  signal,
}: QuestionRun<StartsOptions, void>): Promise<Answered> {
  const { traffic } = opened;
  const { question } = questionFromOptions(options, opened.world);
  const delay = options.delay ?? question.currentDelay;
  const pool = await poolOf(options, (target) =>
    runWithProgress(
      smallestPool(traffic, question, delay, target, randomFrom(question.seed)),
      "searching for a pool",
      MAX_POOLS_TRIED,
      signal,
    ).catch(rethrowRangeError),
  );
  const startsQuestion: StartsQuestion = { delay, concurrent: options.maxConcurrentStarts ?? [], pool };
  const answer = await runWithProgress(
    startsReport(traffic, question, startsQuestion, randomFrom(question.seed)),
    "simulating computes",
    startsSteps(traffic, startsQuestion),
    signal,
  ).catch(rethrowRangeError);
  return {
    summary: answer.report,
    page: startsPage(answer.report),
    charts: async () =>
      (await import("../../../whatif/questions/starts/starts-charts.ts")).startsCharts(
        answer,
        traffic.period,
      ),
    files: () => ({ "starts-by-minute.csv": minutesCsv(answer, traffic.period.startAt) }),
    ...questionManifest(question, opened),
  };
}

function checkPoolOptions({ pool, targetMiss, refill, preparedLatency }: StartsOptions): void {
  const given = [pool ?? targetMiss, refill, preparedLatency].filter((value) => value !== undefined);
  if (given.length % 3 !== 0)
    throw new CliError("a pool requires all of --pool, --refill and --prepared-latency", true);
}

async function poolOf(
  { pool, targetMiss, refill: refillMs, preparedLatency: latency }: StartsOptions,
  search: (target: PoolTarget) => Promise<number | undefined>,
): Promise<StartsQuestion["pool"]> {
  if (refillMs === undefined || latency === undefined) return undefined;
  if (targetMiss === undefined) return pool === undefined ? undefined : { size: pool, refillMs, latency };
  const size = await search({ missShare: targetMiss, refillMs, latency });
  if (size !== undefined) return { size, refillMs, latency, targetMiss };
  throw new CliError(
    `--target-miss: no pool of up to ${MAX_POOL.toLocaleString("en")} computes is sufficient`,
  );
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
