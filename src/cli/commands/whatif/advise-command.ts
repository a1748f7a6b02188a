import { type Command, Option } from "commander";
import type { ControlAnswer } from "../../../control-api/document/answers.ts";
import type { Profile } from "../../../platform/catalog/defaults-and-limits.ts";
import {
  newestPriceList,
  PRICED_PLANS,
  type PricedPlan,
  priceListOf,
} from "../../../platform/catalog/price-lists.ts";
import { randomFrom } from "../../../simulation/random.ts";
import { MAX_DELAYS_TRIED } from "../../../whatif/gap-curve/optimum.ts";
import type { Question } from "../../../whatif/input/question.ts";
import type { Slo } from "../../../whatif/input/slo.ts";
import { adviceCharts, advicePage } from "../../../whatif/questions/advice/advice-page.ts";
import {
  type AdviceAndLimits,
  adviceOf,
  namesSources,
  waitsForSlo,
} from "../../../whatif/questions/advice/advise-traffic.ts";
import { sizeChoices } from "../../../whatif/questions/advice/size-choices.ts";
import { slowerSources } from "../../../whatif/questions/advice/slower-sources.ts";
import { attributionReport } from "../../../whatif/questions/attribution/attribution-report.ts";
import { CurveAnswer } from "../../../whatif/questions/curve/curve-answer.ts";
import type { OtherUsage } from "../../../whatif/units/bill.ts";
import type { ControlCall } from "../../client/client.ts";
import { withControlApi } from "../../client/control-client.ts";
import { callRouteIfAllowed } from "../../client/control-route.ts";
import { runWithProgress } from "../../terminal/run-with-progress.ts";
import { checkIgnoredWaits, ignoreWaitsOption } from "../../whatif/ignore-waits-option.ts";
import { questionManifest } from "../../whatif/manifest.ts";
import { openTraces } from "../../whatif/open-traffic.ts";
import { type Answered, type QuestionRun, questionCommand } from "../../whatif/question-command.ts";
import {
  addQuestionOptions,
  cpuShareOption,
  loadPerRequestOption,
  type OutputOptions,
  type QuestionOptions,
  questionFromOptions,
  workersOption,
} from "../../whatif/question-options.ts";
import { checkSloSource, numberAtLeast, parseSloOption } from "../../whatif/question-values.ts";
import { readGaps, replayAll } from "../../whatif/replay-workers.ts";
import type { TraceOptions } from "../../whatif/trace-options.ts";

type AdviseOptions = QuestionOptions &
  OutputOptions &
  TraceOptions & {
    readonly plan: PricedPlan;
    readonly slo?: Slo;
    readonly budget?: number;
    readonly storage?: number;
    readonly history?: number;
    readonly snapshots?: number;
    readonly extraBranches?: number;
    readonly transfer?: number;
    readonly loadPerRequest?: number;
    readonly workers: number;
  };

export function adviseCommand(): Command {
  return questionCommand<AdviseOptions, void>({
    name: "advise",
    description: "say what to change, and what it saves on the whole bill",
    addOptions: addAdviseOptions,
    help: `
Compares possible changes by their effect on the whole bill: the autosuspend
delay (for all computes and for each), clients that keep computes active, the
size, and the plan. For details, see "standin whatif curve", "attribute" and "capacity".

Exit status: 0 if the current settings meet --budget and --slo, or none is given;
1 if they do not, or on an error; 2 on a usage error.

Examples:
  $ standin advise calls.csv
  $ standin advise calls.csv --plan launch --storage 40 --budget 100
  $ standin advise calls.csv --slo "p99 wait < 2s" --out advice.html
  $ standin advise calls.csv --slo "p95 wait < 500ms for web"
  $ standin advise calls.csv --ignore-waits-of health-check
  $ standin advise calls.csv --wait-worth 2
  $ standin advise calls.csv --cu 2 --load-per-request 0.2
  $ standin advise --data ./.standin --json
  $ standin advise --url http://127.0.0.1:4620`,
    prepare: () => undefined,
    open: openTraces,
    answer: answerAdvice,
  });
}

function addAdviseOptions(command: Command): void {
  addQuestionOptions(command, ["plan", "pricePlan", "price"])
    .addOption(
      new Option("--plan <name>", "current plan, which determines the price and the delays that can be set")
        .choices(PRICED_PLANS)
        .default("scale" satisfies PricedPlan),
    )
    .addOption(
      new Option(
        "--slo <limit>",
        'limit on a percentile of the wait for a start: "p99 wait < 2s", or "p95 wait < 2s for web" for the requests of one source',
      ).argParser(parseSloOption),
    )
    .addOption(ignoreWaitsOption())
    .addOption(new Option("--budget <dollars>", "maximum monthly bill").argParser(numberAtLeast(0)))
    .addOption(
      new Option("--storage <GB>", "storage to bill (default: that of the world)").argParser(
        numberAtLeast(0),
      ),
    )
    .addOption(
      new Option("--history <GB>", "history for restores to bill (default: that of the world)").argParser(
        numberAtLeast(0),
      ),
    )
    .addOption(
      new Option("--snapshots <GB>", "snapshots of branches to bill (default: those of the world)").argParser(
        numberAtLeast(0),
      ),
    )
    .addOption(
      new Option(
        "--extra-branches <n>",
        "branches to bill beyond those that the plan includes (default: those of the world)",
      ).argParser(numberAtLeast(0)),
    )
    .addOption(
      new Option("--transfer <GB>", "transfer over the public network in a month").argParser(
        numberAtLeast(0),
      ),
    )
    .addOption(loadPerRequestOption())
    .addOption(cpuShareOption())
    .addOption(workersOption());
}

type AdviseRun = QuestionRun<AdviseOptions, void>;

async function answerAdvice(run: AdviseRun): Promise<Answered> {
  const { opened, options } = run;
  checkSloSource(options.slo, opened.traffic);
  checkIgnoredWaits(options, opened.traffic);
  const { question, profile } = questionFromOptions(options, opened.world);
  const { limits, advice } = await adviceOn(run, question, profile);
  const { budget, slo } = advice.current.meets;
  if (budget === false || slo === false) process.exitCode = 1;
  return {
    summary: { ...advice, limits },
    page: advicePage(advice, limits),
    charts: () => adviceCharts(advice),
    ...questionManifest(question, opened),
  };
}

const GB = 1e9;

/**
 * The branches and snapshots of a world now, and what they store; unknown if no Postgres has reported it, to a server of an older
 * release, and with the token of a team.
 */
async function readUsage(call: ControlCall): Promise<OtherUsage> {
  const answer: Partial<ControlAnswer<"GET /data">> = (await callRouteIfAllowed(call, "GET /data")) ?? {};
  const { billed, snapshot_bytes: snapshots, extra_branches: extraBranches } = answer;
  const stored = billed ? { storageGb: billed.storage_bytes / GB, historyGb: billed.history_bytes / GB } : {};
  const snapshotGb = snapshots == null ? undefined : snapshots / GB;
  return { ...stored, snapshotGb, extraBranches };
}

async function adviceOn(
  { opened, options, signal }: AdviseRun,
  question: Question,
  profile: Profile,
): Promise<AdviceAndLimits> {
  const { traffic, target } = opened;
  const ofWorld: OtherUsage = target === undefined ? {} : await withControlApi(target, readUsage);
  const detail = { byCompute: true, byDay: true };
  const reading = await readGaps(opened, question, detail, options.workers, signal);
  const curve = new CurveAnswer(traffic, reading, question, randomFrom(question.seed));
  const named = curve.namedDelays;
  curve.storeOutcomes(named, await replayAll(opened, curve.jobs(named), question, options.workers, signal));
  const terms = {
    plan: options.plan,
    priceList: options.prices === undefined ? newestPriceList() : priceListOf(options.prices),
    usage: {
      storageGb: options.storage ?? ofWorld.storageGb,
      historyGb: options.history ?? ofWorld.historyGb,
      snapshotGb: options.snapshots ?? ofWorld.snapshotGb,
      extraBranches: options.extraBranches ?? ofWorld.extraBranches,
      transferGb: options.transfer,
    },
    budgetDollars: options.budget,
    slo: options.slo,
    profile,
    loadPerRequest: options.loadPerRequest,
    defaultDelayS: profile.suspendTimeout.defaultS,
  };
  const waits = await runWithProgress(
    waitsForSlo(traffic, question, curve, options.slo, randomFrom(question.seed)),
    "searching for a delay",
    MAX_DELAYS_TRIED * traffic.computes.length,
    signal,
  );
  return adviceOf(question, terms, {
    curve,
    waits,
    attribution: namesSources(traffic)
      ? await runWithProgress(
          attributionReport(traffic, question, randomFrom(question.seed), false),
          "replaying computes",
          traffic.computes.length,
          signal,
        )
      : undefined,
    sizes: await runWithProgress(
      sizeChoices(traffic, question, terms, waits.currentMs, randomFrom(question.seed)),
      "comparing sizes",
      traffic.computes.length,
      signal,
    ),
    slower: await runWithProgress(
      slowerSources(traffic, question, curve.periodic, randomFrom(question.seed)),
      "replaying computes",
      traffic.computes.length,
      signal,
    ),
    computes: traffic.computes,
  });
}
