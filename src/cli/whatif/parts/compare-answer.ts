import { comparisonJobs, comparisonOf } from "../../../whatif/questions/compare/comparison.ts";
import { comparisonPage } from "../../../whatif/questions/compare/comparison-page.ts";
import { type Answer, type AnswerSetup, coveredBy } from "./answer.ts";

export type CompareSetup = AnswerSetup & {
  readonly command: "compare";
  readonly policies: readonly string[];
  readonly replications: number;
};

export function compareAnswer(setup: CompareSetup): Answer {
  const { question, period, policies, replications } = setup;
  const jobs = comparisonJobs(policies, question, replications);
  return {
    passes: [{ period, jobs }],
    result([outcomes = []]) {
      const comparison = comparisonOf(coveredBy(setup), question, jobs, outcomes);
      return {
        summary: comparison,
        page: comparisonPage(comparison),
        charts: async () =>
          (await import("../../../whatif/questions/compare/comparison-charts.ts")).comparisonCharts(
            comparison,
          ),
      };
    },
  };
}
