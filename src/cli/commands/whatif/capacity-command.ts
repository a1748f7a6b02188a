import { type Command, Option } from "commander";
import type { Profile } from "../../../platform/catalog/defaults-and-limits.ts";
import type { SizeRange } from "../../../platform/catalog/sizes.ts";
import { randomFrom } from "../../../simulation/random.ts";
import { type Slo, sloText } from "../../../whatif/input/slo.ts";
import { capacityPage } from "../../../whatif/questions/capacity/capacity-page.ts";
import { capacityReport } from "../../../whatif/questions/capacity/capacity-report.ts";
import type { CapacityAssumptions, PoolBy } from "../../../whatif/questions/capacity/capacity-totals.ts";
import { DEFAULT_SLO } from "../../../whatif/questions/capacity/missed-share.ts";
import { hasSufficientSize, USUAL_SIZES } from "../../../whatif/questions/capacity/sufficient-size.ts";
import { CliError } from "../../terminal/cli-error.ts";
import { integerParser, parseBytesOption, parseMillisecondsOption } from "../../terminal/option-parsers.ts";
import { runWithProgress } from "../../terminal/run-with-progress.ts";
import { invalidValue } from "../../terminal/usage-errors.ts";
import { questionManifest, type ResolvedFlags } from "../../whatif/manifest.ts";
import { openTraces } from "../../whatif/open-traffic.ts";
import { type Answered, type QuestionRun, questionCommand } from "../../whatif/question-command.ts";
import {
  addQuestionOptions,
  cpuShareOption,
  loadPerRequestOption,
  type OutputOptions,
  type QuestionOptions,
  questionFromOptions,
  reservedOption,
} from "../../whatif/question-options.ts";
import {
  checkSloSource,
  numberAtLeast,
  parseShareOption,
  parseSloOption,
} from "../../whatif/question-values.ts";
import type { TraceOptions } from "../../whatif/trace-options.ts";

type CapacityOptions = QuestionOptions &
  OutputOptions &
  TraceOptions & {
    readonly size?: SizeRange;
    readonly loadPerRequest: number;
    readonly memoryPerRequest?: number;
    readonly reserved: number;
    readonly poolBy: PoolBy;
    readonly workingSet?: number;
    readonly blocksPerRequest: number;
    readonly skew: number;
    readonly storageRead: number;
    readonly tolerate?: number;
    readonly slo?: Slo;
  };

const MAX_BLOCKS = 100_000;
const BYTES_PER_GB = 1024 ** 3;

export function capacityCommand(): Command {
  return questionCommand<CapacityOptions, void>({
    name: "capacity",
    description: "estimate the cost of compute sizes, and whether they can handle the traffic",
    addOptions(command) {
      addLoadOptions(addQuestionOptions(command, ["cu", "coldStartWorth", "waitWorth"]));
      addReadOptions(command);
      command.addOption(sloOption()).addOption(toleranceOption());
    },
    help: `
Examples:
  $ standin whatif fleet --computes 4 --days 2 --pattern preview-branch --out busy.csv
  $ standin whatif capacity busy.csv --slo "p99 wait < 500ms"
  $ standin whatif capacity busy.csv --size 0.25..2 --cpu-share 50%
  $ standin whatif capacity busy.csv --size 1..4 --working-set 6GiB --load-per-request 0.5 --out report/`,
    prepare: checkCache,
    open: openTraces,
    answer: answerCapacity,
  });
}

function addLoadOptions(command: Command): void {
  command
    .addOption(
      new Option(
        "--size <range>",
        "compute sizes in CU: each size in the range, and autoscaling over it (default: 0.25..2, and larger ones if none is sufficient)",
      ).argParser(parseSizeRangeOption),
    )
    .addOption(loadPerRequestOption(1))
    .addOption(cpuShareOption())
    .addOption(
      new Option(
        "--memory-per-request <size>",
        "memory that a running request uses, such as 64MiB; autoscaling follows it",
      ).argParser(parseBytesOption),
    )
    .addOption(reservedOption())
    .addOption(
      new Option(
        "--pool-by <what>",
        "scope of a connection pool; to match the platform's pooler, use source and --map source=user+database",
      )
        .choices(["compute", "source"])
        .default("compute"),
    );
}

/** Adds the options about the blocks that requests read from the cache or from storage. */
function addReadOptions(command: Command): void {
  command
    .addOption(
      new Option(
        "--working-set <size>",
        "size of the data that requests read, such as 4GiB; autoscaling follows it, and cache hit ratios are reported",
      ).argParser(parseBytesOption),
    )
    .addOption(
      new Option(
        "--blocks-per-request <n>",
        "number of 8 KiB blocks that a request reads from the working set",
      )
        .argParser(integerParser(1, MAX_BLOCKS))
        .default(10),
    )
    .addOption(
      new Option("--skew <share>", "skew of the reads: 0 is uniform; near 1, few blocks get most reads")
        .argParser(parseSkewOption)
        .default(0.8),
    )
    .addOption(
      new Option(
        "--storage-read <duration>",
        "additional time to read a block from storage instead of from the cache: 1ms or 1 (milliseconds)",
      )
        .argParser(parseMillisecondsOption)
        .default(1, "1ms"),
    );
}

function sloOption(): Option {
  return new Option(
    "--slo <limit>",
    `objective that a sufficient size meets: a limit on the wait that throttling adds; a rejected request exceeds it; "p95 wait < 2s for web" applies to the requests of one source (default: "p99 wait < 1s")`,
  ).argParser(parseSloOption);
}

function toleranceOption(): Option {
  return new Option(
    "--tolerate <share>",
    "instead of --slo: share of the active time that may be throttled, and of requests that may be rejected, such as 0.1%",
  )
    .argParser(parseShareOption)
    .conflicts("slo");
}

async function answerCapacity({
  opened,
  options,
  signal,
}: QuestionRun<CapacityOptions, void>): Promise<Answered> {
  const { traffic, world } = opened;
  checkSloSource(options.slo, traffic);
  // The share also applies to the loads that this command assumes.
  const { cpuShare: _, ...others } = options;
  const { question, profile } = questionFromOptions(others, world);
  const assumptions = assumptionsOf(options);
  const reportFor = (size: SizeRange) =>
    runWithProgress(
      capacityReport(
        traffic,
        sizeRangesOf(size, profile.sizes),
        profile,
        question,
        assumptions,
        randomFrom(question.seed),
      ),
      "replaying computes",
      traffic.computes.length,
      signal,
    );
  const usual = await reportFor(options.size ?? USUAL_SIZES);
  const { autoscaled } = profile.sizes;
  const all = { minCu: USUAL_SIZES.minCu, maxCu: autoscaled.at(-1) ?? USUAL_SIZES.maxCu };
  const report = options.size !== undefined || hasSufficientSize(usual) ? usual : await reportFor(all);
  const used = report === usual ? (options.size ?? USUAL_SIZES) : all;
  const manifest = questionManifest(question, opened, resolvedFlagsOf(used, assumptions));
  return {
    summary: report,
    page: capacityPage(report),
    charts: async () =>
      (await import("../../../whatif/questions/capacity/capacity-charts.ts")).capacityCharts(report),
    ...manifest,
    question: { ...manifest.question, sizes: used, ...report.assumptions },
  };
}

function resolvedFlagsOf({ minCu, maxCu }: SizeRange, { slo, cache }: CapacityAssumptions): ResolvedFlags {
  return {
    size: [minCu === maxCu ? String(minCu) : `${minCu}..${maxCu}`],
    slo: slo === undefined ? [] : [sloText(slo, (ms) => `${ms}ms`)],
    ...(cache === undefined ? { "blocks-per-request": [], skew: [], "storage-read": [] } : {}),
  };
}

function assumptionsOf({ workingSet, memoryPerRequest, ...options }: CapacityOptions): CapacityAssumptions {
  const { loadPerRequest, cpuShare, tolerate, slo, reserved, poolBy, blocksPerRequest, skew, storageRead } =
    options;
  return {
    loadPerRequest,
    memoryGbPerRequest: memoryPerRequest === undefined ? undefined : memoryPerRequest / BYTES_PER_GB,
    tolerate,
    slo: tolerate === undefined ? (slo ?? DEFAULT_SLO) : undefined,
    cpuShare,
    reserved,
    poolBy,
    cache:
      workingSet === undefined
        ? undefined
        : {
            workingSetGb: workingSet / BYTES_PER_GB,
            blocksPerRequest,
            skew,
            storageReadMs: storageRead,
          },
  };
}

/** The options about reads require --working-set. */
function checkCache({ workingSet }: CapacityOptions, command: Command): void {
  const cacheOptions = command.options.filter((one) =>
    ["blocksPerRequest", "skew", "storageRead"].includes(one.attributeName()),
  );
  const typed = cacheOptions.find((one) => command.getOptionValueSource(one.attributeName()) === "cli");
  if (workingSet === undefined && typed !== undefined)
    throw new CliError(`${typed.long} requires --working-set`, true);
}

/** Each size between the bounds (inclusive) as a fixed size, then the whole range. */
function sizeRangesOf({ minCu, maxCu }: SizeRange, { autoscaled, fixedOnly }: Profile["sizes"]): SizeRange[] {
  if (minCu === maxCu && fixedOnly.includes(minCu)) return [{ minCu, maxCu }];
  for (const cu of [minCu, maxCu]) {
    if (fixedOnly.includes(cu))
      throw new CliError(`--size: ${cu} CU is available only as a fixed size and cannot bound a range`, true);
    if (!autoscaled.includes(cu)) {
      const known = [...autoscaled, ...fixedOnly].join(", ");
      throw new CliError(`--size: ${cu} CU is not a size of this profile; its sizes are ${known}`, true);
    }
  }
  const fixedSizes = autoscaled
    .filter((cu) => cu >= minCu && cu <= maxCu)
    .map((cu) => ({ minCu: cu, maxCu: cu }));
  if (minCu === maxCu) return fixedSizes;
  const isWider = minCu === USUAL_SIZES.minCu && maxCu > USUAL_SIZES.maxCu;
  return [...fixedSizes, ...(isWider ? [USUAL_SIZES] : []), { minCu, maxCu }];
}

function parseSizeRangeOption(text: string): SizeRange {
  const [minCu = Number.NaN, maxCu = minCu, ...more] = text.split("..").map(numberAtLeast(0));
  if (more.length === 0 && minCu <= maxCu) return { minCu, maxCu };
  throw invalidValue("a size such as 1, or a range such as 0.25..2");
}

function parseSkewOption(text: string): number {
  const value = numberAtLeast(0)(text);
  if (value < 1) return value;
  throw invalidValue("a number of at least 0 and below 1");
}
