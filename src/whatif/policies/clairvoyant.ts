import { SECOND } from "../../platform/core/time.ts";
import { type Policy, sleepOnly } from "./policy.ts";

/** Sleeps at once where the gap is longer than a cold start is worth, else not at all: nothing that only sleeps does better. */
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

/** Sleeps at once and is up again just when somebody comes: the bound for policies that resume by themselves. */
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
      // A start that is drawn at another instant may be shorter than foreseen.
      schedule.holdMs = nextAt - resumeAt;
    },
  }),
};
