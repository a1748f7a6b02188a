import { type Command, Option } from "commander";
import { PROFILE_NAMES } from "../../../platform/catalog/defaults-and-limits.ts";
import { randomFrom } from "../../../simulation/random.ts";
import type { SuspendDelay } from "../../../whatif/gap-curve/delay.ts";
import { DEFAULTS } from "../../../whatif/input/question.ts";
import { sizeText, worldText } from "../../../whatif/input/question-summary.ts";
import { profilesPage } from "../../../whatif/questions/profiles/profiles-page.ts";
import {
  type ProfilesQuestion,
  profilesQuestionSummary,
  profilesReport,
} from "../../../whatif/questions/profiles/profiles-report.ts";
import { delayPhrase } from "../../../whatif/units/number-format.ts";
import type { NamedProfile, PriceInput } from "../../../whatif/units/prices.ts";
import { CliError } from "../../terminal/cli-error.ts";
import { RepeatableOption } from "../../terminal/options.ts";
import { printError } from "../../terminal/print.ts";
import { runWithProgress } from "../../terminal/run-with-progress.ts";
import { resolvedInputFlags } from "../../whatif/manifest.ts";
import { openTraces } from "../../whatif/open-traffic.ts";
import { type Answered, type QuestionRun, questionCommand } from "../../whatif/question-command.ts";
import {
  coldStartWorthOption,
  cuOption,
  DELAY_FORMS,
  type OutputOptions,
  priceListOptions,
  reservedOption,
  seedOption,
} from "../../whatif/question-options.ts";
import { parseDelayOption } from "../../whatif/question-values.ts";
import type { TraceOptions } from "../../whatif/trace-options.ts";

type ProfilesOptions = OutputOptions &
  Pick<PriceInput, "prices" | "pricePlan"> &
  TraceOptions & {
    readonly profile?: readonly string[];
    readonly delay?: SuspendDelay;
    readonly cu?: number;
    readonly coldStartWorth: number;
    readonly reserved: number;
    readonly seed: number;
  };

const MAX_PROFILES = 8;

export function profilesCommand(): Command {
  return questionCommand<ProfilesOptions, readonly NamedProfile[]>({
    name: "profiles",
    description: "compare platform profiles: start latency, limits and the resulting cost",
    addOptions: addProfilesOptions,
    help: `
A profile file is YAML or JSON. Omitted fields are taken from the profile named by
"like":
  name: mine
  like: "2024"
  price_per_cu_hour: 0.16
  start_latency: 300ms..2s
  suspend_timeout_s: {default: 300, minimum: 60, maximum: 604800}
  max_connections: {"0.25": 100, "1": 400}
  ram_gb_per_cu: 4
  file_cache_share: 0.75
  pooled_connections: 10000

Examples:
  $ standin whatif profiles fleet.csv
  $ standin whatif profiles fleet.csv --profile 2026 --profile mine.yaml --cu 0.25 --out report/`,
    prepare: readProfiles,
    open: openTraces,
    answer: answerProfiles,
  });
}

function addProfilesOptions(command: Command): void {
  command
    .addOption(
      new RepeatableOption(
        "--profile <name|file>",
        `profile to compare; repeatable, the first is the baseline (default: ${PROFILE_NAMES.join(", ")})`,
      ).argParser((text: string, previous: readonly string[] | undefined) => [...(previous ?? []), text]),
    )
    .addOption(
      new Option(
        "--delay <delay>",
        `autosuspend delay under every profile: ${DELAY_FORMS} (default: those of the world, or that of each profile)`,
      ).argParser(parseDelayOption),
    )
    .addOption(cuOption())
    .addOption(coldStartWorthOption())
    .addOption(reservedOption())
    .addOption(seedOption());
  for (const option of priceListOptions()) command.addOption(option);
}

async function answerProfiles({
  opened,
  options,
  prepared: profiles,
  signal,
}: QuestionRun<ProfilesOptions, readonly NamedProfile[]>): Promise<Answered> {
  const { traffic, world } = opened;
  const { delay, cu, coldStartWorth: coldStartS, reserved, seed, prices, pricePlan } = options;
  const question: ProfilesQuestion = {
    profiles,
    delay,
    cu,
    world,
    coldStartS,
    reserved,
    seed,
    prices,
    pricePlan,
  };
  if (cu === undefined && world !== undefined) checkSizes(profiles, world.cu);
  printWorldNote(question);
  const report = await runWithProgress(
    profilesReport(traffic, question, randomFrom(seed)),
    "replaying computes",
    profiles.length * traffic.computes.length,
    signal,
  );
  return {
    summary: report,
    page: profilesPage(report),
    charts: async () =>
      (await import("../../../whatif/questions/profiles/profiles-charts.ts")).profilesCharts(report),
    resolvedFlags: {
      ...resolvedInputFlags(opened),
      profile: options.profile ?? PROFILE_NAMES,
      cu: world === undefined ? [DEFAULTS.cu] : [],
    },
    question: report.question,
  };
}

async function readProfiles({
  profile: texts = PROFILE_NAMES,
  cu = DEFAULTS.cu,
}: ProfilesOptions): Promise<NamedProfile[]> {
  const { readProfile } = await import("../../whatif/profile-file.ts");
  if (texts.length < 2 || texts.length > MAX_PROFILES)
    throw new CliError(`--profile: give 2 to ${MAX_PROFILES} profiles`, true);
  const profiles = texts.map(readProfile);
  checkSizes(profiles, [cu]);
  for (const [index, { name }] of profiles.entries()) {
    if (profiles.findIndex((other) => other.name === name) !== index)
      throw new CliError(`--profile: two profiles have the name ${name}`, true);
  }
  return profiles;
}

function checkSizes(profiles: readonly NamedProfile[], sizes: readonly number[]): void {
  for (const { name, profile } of profiles) {
    const known = [...profile.sizes.autoscaled, ...profile.sizes.fixedOnly];
    const unknownSize = sizes.find((cu) => !known.includes(cu));
    if (unknownSize !== undefined)
      throw new CliError(
        `--cu: ${unknownSize} CU is not a size of profile ${name}; its sizes are ${known.join(", ")}`,
        true,
      );
  }
}

function printWorldNote(question: ProfilesQuestion): void {
  const { from_world, delay_s, cu } = profilesQuestionSummary(question);
  const texts = {
    delay: delay_s === null ? "the default delay" : delayPhrase(delay_s),
    cu: sizeText(cu),
  };
  const note = worldText(from_world.map((field) => texts[field]));
  if (note !== undefined) printError(`note: ${note}\n`);
}
