import { MAX_COMPUTES_LISTED } from "../../gap-curve/compute-ranking.ts";
import { isInstant, type Question } from "../../input/question.ts";
import { ignoredWaitsLimit, sizeSentence } from "../../input/question-summary.ts";
import type { ReportLimits } from "../../page/page-layout.ts";
import { AFTER_TRACE_END } from "../../trace/traffic-summary.ts";

/**
 * `clients`: simulated clients, if any. `isListCut`: not all computes are listed. `hasOnlyGaps`: the requests are
 * unknown.
 */
export function curveLimits(
  { latency, costs, ignoredWaits }: Question,
  clients: readonly string[],
  isListCut = false,
  hasOnlyGaps = false,
): ReportLimits {
  const hasClients = clients.length > 0;
  return {
    exact: [
      "Cold starts and active time of every delay, if starts take no time and requests arrive as recorded: counted from the gaps between requests, not estimated.",
      ...ignoredWaitsLimit(ignoredWaits),
      ...(isInstant(latency)
        ? []
        : [
            "The mean wait next to them is that of a replay, in which requests that arrive during a start also wait. Where it was not replayed, the JSON counts one start of mean length for each arrival at a suspended compute.",
          ]),
    ],
    simulated: [
      ...(isInstant(latency)
        ? []
        : [
            "Figures with start latency come from replays, in which requests that arrive during a start wait until it ends. Active time and the bill count from the end of each start, as in `whatif compare`.",
          ]),
      ...(hasClients
        ? [
            `With clients: each compute that has requests also gets one of each: ${clients.join(", ")}. Each delay shown with clients is simulated once, event by event.`,
          ]
        : []),
    ],
    left_out: [
      `${hasClients ? "In the curve: clients" : "Clients that reconnect after a suspend or wait for responses"}, queries slowed by a cold cache, quotas, and start limits. With these, the gaps would depend on the delay.`,
      ...(isListCut
        ? [
            `The list of computes: only the ${MAX_COMPUTES_LISTED.toLocaleString("en")} that gain most from a delay of their own.`,
          ]
        : []),
      ...(hasOnlyGaps
        ? [
            "Waits for starts: the input is gaps without their requests, so starts take no time. Read the traces to include start latency.",
          ]
        : []),
      "Every compute is suspended before its first request of the period. That start counts as a first start, under every delay.",
      `${sizeSentence(costs)} Storage, history and transfer are not included in the cost.`,
      AFTER_TRACE_END,
    ],
  };
}
