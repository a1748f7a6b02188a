import type { AskWhatIf } from "../control-api/http/whatif-fields.ts";
import { randomFrom } from "../simulation/random.ts";
import { DEFAULTS, MAX_REPLICATIONS, questionFrom } from "../whatif/input/question.ts";
import { fleetGapsOf, needsFleetGaps, replayComputes } from "../whatif/input/replay-jobs.ts";
import { limitsFor } from "../whatif/page/page-layout.ts";
import { comparisonJobs, comparisonSteps } from "../whatif/questions/compare/comparison.ts";
import { ComputeComparison, replayByCompute } from "../whatif/questions/compare/compute-comparison.ts";
import { checkIsUsed, finished, readWorldQuestion } from "./world-question.ts";

const STEPS_PER_YIELD = 5;
/** The results of all replays are held in memory until the last one is done. */
const MAX_REPLAYS = 20_000;

/**
 * Answers `POST /_sim/whatif` like `standin whatif compare` of this world. Yields to other requests
 * in the meantime.
 */
export const answerWhatIf: AskWhatIf = async (world, input) => {
  const {
    policies,
    replications = DEFAULTS.replications,
    by_compute: listedComputes,
    price,
    prices,
    cu,
    seed,
  } = input;
  const { price_plan: pricePlan } = input;
  if (price !== undefined && (prices !== undefined || pricePlan !== undefined))
    throw new RangeError("price: cannot be combined with prices or price_plan");
  if (replications > MAX_REPLICATIONS)
    throw new RangeError(`replications: must be at most ${MAX_REPLICATIONS}`);
  const { traffic, setting, notes, flags } = await readWorldQuestion(world, input);
  const question = questionFrom({ price, prices, cu, seed, pricePlan, ...flags }, setting);
  const jobs = comparisonJobs(policies, question, replications);
  if (jobs.length > MAX_REPLAYS)
    throw new RangeError(
      `policy, replications: need ${jobs.length} replays, but at most ${MAX_REPLAYS} are allowed; ask for fewer`,
    );
  checkIsUsed(traffic, input.to);
  const fleetGaps = needsFleetGaps(jobs) ? fleetGapsOf(traffic, question) : undefined;
  const all = { jobs, from: 0, to: traffic.computes.length, fleetGaps };
  const byCompute =
    listedComputes === undefined ? undefined : new ComputeComparison(traffic, question, jobs, listedComputes);
  const work =
    byCompute === undefined
      ? replayComputes(traffic, all, randomFrom)
      : replayByCompute(traffic, all, randomFrom, byCompute);
  const outcomes = await finished(work, STEPS_PER_YIELD);
  const comparison = await finished(comparisonSteps(traffic, question, jobs, outcomes), 1);
  const listed = byCompute === undefined ? undefined : await finished(byCompute.listed(), 1);
  const compared = comparison.policies.map((one) =>
    listed === undefined ? one : { ...one, by_compute: listed.get(one.policy) ?? [] },
  );
  return {
    ...comparison,
    policies: compared,
    limits: limitsFor(comparison.limits, false),
    input: { notes },
  };
};
