import { SECOND } from "../../kernel/time.ts";
import { type Policy, sleepOnly } from "./policy.ts";

/**
 * Suspends at once if the gap is longer than a cold start is worth, else not at all. No policy that only
 * suspends does better.
 */
export const clairvoyant: Policy = {
  name: "clairvoyant",
  knows: "future",
  isRandom: false,
  resumes: false,
  createState: ({ coldStartS }) => ({
    schedule: (idleSince, schedule, nextAt) =>
      sleepOnly(schedule, nextAt - idleSince > coldStartS * SECOND ? idleSince : nextAt),
  }),
};

/**
 * Suspends at once and is ready exactly at the next arrival: the bound for policies that resume ahead of
 * time.
 */
export const clairvoyantResume: Policy = {
  name: "clairvoyant:resume",
  knows: "future",
  isRandom: false,
  resumes: true,
  createState: ({ latencies }) => ({
    schedule(idleSince, schedule, nextAt) {
      const isLast = nextAt === Number.POSITIVE_INFINITY;
      const resumeAt = isLast ? nextAt : nextAt - latencies.at(nextAt);
      schedule.sleepAt = resumeAt > idleSince ? idleSince : nextAt;
      schedule.resumeAt = resumeAt;
      // Latency is drawn by the instant of the start, so the start at `resumeAt` may be shorter than the one
      // foreseen.
      schedule.holdMs = nextAt - resumeAt;
    },
  }),
};
