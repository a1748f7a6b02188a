import type { AskAdvice } from "../control-api/http/whatif-fields.ts";
import { newestPriceList, type PricedPlan, priceListOf } from "../platform/catalog/price-lists.ts";
import { randomFrom } from "../simulation/random.ts";
import { effectiveProfile, questionFrom } from "../whatif/input/question.ts";
import { parseSlo, SLO_RULE, sloSource } from "../whatif/input/slo.ts";
import { limitsFor } from "../whatif/page/page-layout.ts";
import { adviceText } from "../whatif/questions/advice/advice-page.ts";
import { adviceSteps } from "../whatif/questions/advice/advise-traffic.ts";
import { checkIsUsed, finished, parseField, readWorldQuestion } from "./world-question.ts";

const DEFAULT_PLAN: PricedPlan = "scale";

/** Answers `POST /_sim/whatif/advice` like `standin advise` of this world. Yields to other requests meanwhile. */
export const answerAdvice: AskAdvice = async (world, input) => {
  const { plan = DEFAULT_PLAN, budget, slo: sloText, prices, cu, seed } = input;
  const slo = parseField("slo", sloText, parseSlo, SLO_RULE);
  const { traffic: recorded, setting, notes, flags } = await readWorldQuestion(world, input);
  checkIsUsed(recorded, input.to);
  sloSource(slo, recorded.sources);
  // The history of a world is complete.
  const traffic = { ...recorded, silenceIsIdle: true };
  const question = questionFrom({ prices, cu, seed, plan, ...flags }, setting);
  const terms = {
    plan,
    priceList: prices === undefined ? newestPriceList() : priceListOf(prices),
    usage: {},
    budgetDollars: budget,
    slo,
    defaultDelayS: effectiveProfile(flags.profile, setting).profile.suspendTimeout.defaultS,
  };
  const { advice, limits } = await finished(adviceSteps(traffic, question, terms, randomFrom), 1);
  return { ...advice, text: adviceText(advice), limits: limitsFor(limits, false), input: { notes } };
};
