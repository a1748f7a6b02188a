import { isoInstant } from "../../../kernel/calendar.ts";
import type { Period } from "../../../traffic/recorded/trace/trace.ts";
import type { Question } from "../../input/question.ts";
import { sizeSentence } from "../../input/question-summary.ts";
import type { ReportLimits } from "../../page/page-layout.ts";

/** `horizon`: the simulated period. `days`: the number of whole recorded days. */
export function quotaLimits(
  { costs, deletedAt = [] }: Question,
  recorded: Period,
  horizon: Period,
  days: number,
): ReportLimits {
  const isExtended = horizon.endAt > recorded.endAt;
  return {
    exact: [
      "Usage counts from the end of each start, by calendar month in UTC. In the millisecond in which it reaches the quota, all computes of the project are suspended, and requests are rejected until the month ends. The recorded time is simulated with the same rules as `standin serve`, event by event.",
    ],
    simulated: isExtended
      ? [
          `After ${isoInstant(recorded.endAt)}, each day repeats one of the ${days} recorded whole days, drawn anew in each replication and the same for all computes (a double bootstrap by days). Workdays repeat workdays and weekend days repeat weekend days. What is repeated is the use and the requests of each five minutes, with the start latencies of the recorded time.`,
          "The interval of the date is a prediction interval: from the earliest to the latest replication, or narrower if there are more than 39, widened because the mean of a day is itself estimated from few days, and because days depend on each other. ± is half the width of a 95 % interval of the mean over replications.",
        ]
      : [],
    left_out: [
      ...(isExtended
        ? [
            "Anything that was not recorded, such as holidays. Days are drawn independently; the interval is widened as far as the recorded days depend on each other. Fewer than four weeks do not show how weeks differ.",
            ...(deletedAt.some((at) => at !== undefined)
              ? [
                  "Deletions after the end of the trace: a repeated day includes the requests to computes that were deleted later.",
                ]
              : []),
          ]
        : []),
      "Usage before the trace begins: the month in which it begins is counted from there.",
      "Clients that retry after a rejection, and quotas other than that of compute time.",
      sizeSentence(costs),
    ],
  };
}
