import type { AskAdvice } from "../control-api/http/whatif-fields.ts";
import type { SimTime } from "../kernel/time.ts";
import { newestPriceList, type PricedPlan, priceListOf } from "../platform/catalog/price-lists.ts";
import { addLevels, NO_STORAGE } from "../platform/model/storage-use.ts";
import { extraBranches, NO_EXTRA_BRANCHES } from "../platform/rules/usage/extra-branches.ts";
import { snapshotBytes } from "../platform/rules/usage/meter-snapshots.ts";
import { storedAt } from "../platform/rules/usage/stored-data.ts";
import type { World } from "../platform/world/world.ts";
import { randomFrom } from "../simulation/random.ts";
import { effectiveProfile, questionFrom } from "../whatif/input/question.ts";
import { parseSlo, SLO_RULE, sloSource } from "../whatif/input/slo.ts";
import { limitsFor } from "../whatif/page/page-layout.ts";
import { adviceText } from "../whatif/questions/advice/advice-text.ts";
import { adviceSteps } from "../whatif/questions/advice/advise-traffic.ts";
import type { OtherUsage } from "../whatif/units/bill.ts";
import { checkIsUsed, finished, parseField, readWorldQuestion } from "./world-question.ts";

const DEFAULT_PLAN: PricedPlan = "scale";

/** Answers `POST /_sim/whatif/advice` like `standin advise` of this world. Yields to other requests in the meantime. */
export const answerAdvice: AskAdvice = async (world, input) => {
  const {
    plan = DEFAULT_PLAN,
    budget,
    slo: sloText,
    prices,
    cu,
    seed,
    load_per_request: loadPerRequest,
  } = input;
  const slo = parseField("slo", sloText, parseSlo, SLO_RULE);
  const { traffic: recorded, setting, notes, flags } = await readWorldQuestion(world, input);
  checkIsUsed(recorded, input.to);
  sloSource(slo, recorded.sources);
  // The history of a world is complete.
  const traffic = { ...recorded, silenceIsIdle: true };
  const question = questionFrom({ prices, cu, seed, plan, ...flags }, setting);
  const { profile } = effectiveProfile(flags.profile, setting);
  const terms = {
    plan,
    priceList: prices === undefined ? newestPriceList() : priceListOf(prices),
    usage: await world.inspect(usageSteps),
    budgetDollars: budget,
    slo,
    profile,
    loadPerRequest,
    defaultDelayS: profile.suspendTimeout.defaultS,
  };
  const { advice, limits } = await finished(adviceSteps(traffic, question, terms, randomFrom), 1);
  return { ...advice, text: adviceText(advice), limits: limitsFor(limits, false), input: { notes } };
};

const GB = 1e9;
/** Branches or projects. Takes a millisecond. */
const ROWS_PER_STEP = 500;

/** The branches and snapshots of a world now, and what they store; that is unknown if no Postgres has reported it. */
function* usageSteps(world: World, now: SimTime): Generator<undefined, OtherUsage> {
  let levels = NO_STORAGE;
  for (const [index, branch] of world.branches.toArray().entries()) {
    levels = addLevels(levels, storedAt(world, [branch], now));
    if ((index + 1) % ROWS_PER_STEP === 0) yield;
  }
  let extra = NO_EXTRA_BRANCHES;
  const projects = world.projects.toArray();
  for (let from = 0; from < projects.length; from += ROWS_PER_STEP) {
    extra = extraBranches(world, projects.slice(from, from + ROWS_PER_STEP), extra);
    yield;
  }
  const { root, child, history, logical } = levels;
  const stored = logical === 0 ? {} : { storageGb: (root + child) / GB, historyGb: history / GB };
  const snapshots = snapshotBytes(world);
  const ofSnapshots = snapshots === undefined ? {} : { snapshotGb: snapshots / GB };
  return { ...stored, ...ofSnapshots, extraBranches: extra };
}
