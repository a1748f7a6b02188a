import { expect, test } from "vitest";
import { MONTH_DAYS, RECORDED_DAYS } from "../../../bench/decisions/known-truth.ts";
import { OtherDays } from "../../../bench/decisions/other-days.ts";
import { type RecordedAdvice, recordedAdvice } from "../../../bench/decisions/recorded-advice.ts";
import { CURRENT_DELAY_S, daysFrom, TrafficReader } from "../../../bench/decisions/recorded-answer.ts";
import {
  arrivalsOfKind,
  FIRST_DAY,
  TRAFFIC_KINDS,
  type TrafficKind,
} from "../../../bench/decisions/traffic-kinds.ts";
import { randomFrom } from "../../../src/simulation/random.ts";
import type { SuspendDelay } from "../../../src/whatif/gap-curve/curve.ts";
import { adviceText } from "../../../src/whatif/questions/advice/advice-page.ts";

/**
 * Traffic that shrinks by 3 % a day, which the test for changes does not find in these 28 days. Autosuspend disabled on the
 * plan launch was the decision, because the lower price made up for it on the recorded days. It cost 21 % more on later ones.
 */
test("a plan is not recommended with a delay that is not clearly better by itself", () => {
  const kind = TRAFFIC_KINDS.find(({ name }) => name === "decline of 3 % a day") as TrafficKind;
  const all = arrivalsOfKind(kind, RECORDED_DAYS + MONTH_DAYS, randomFrom(2));
  const period = daysFrom(FIRST_DAY, RECORDED_DAYS);
  const recorded = all.map(({ at, durationMs }) => {
    const isRecorded = (_: number, index: number) => (at[index] as number) < period.endAt;
    return { at: at.filter(isRecorded), durationMs: durationMs.filter(isRecorded) };
  });
  const onScale = recordedAdvice(recorded, period).find(({ advised }) => advised.name === "scale");
  const { advice, worthS } = onScale as RecordedAdvice;
  expect(advice.traffic_change).toBeNull();
  expect(advice.decision?.change).toBe("Move to the plan launch with a delay of 5 min");
  const disabled = advice.proposals.find(({ delay_s }) => delay_s === "never");
  expect(disabled).toMatchObject({ is_clear: false, delay_is_clear: false });
  expect(adviceText(advice).next[0]).toContain("what the delay adds is within the noise");

  const reader = new TrafficReader(daysFrom(FIRST_DAY, RECORDED_DAYS));
  const later = new OtherDays(all, daysFrom(period.endAt, RECORDED_DAYS), reader);
  const worth = { dollarsPerStart: (worthS / 3_600) * 0.222 };
  const weighted = (plan: "scale" | "launch", delay: SuspendDelay) =>
    later.costs({ plan, delayOf: () => delay }, worth).weighted;
  const before = weighted("scale", CURRENT_DELAY_S);
  expect(weighted("launch", "never") / before).toBeGreaterThan(1.2);
  expect(weighted("launch", CURRENT_DELAY_S) / before).toBeLessThan(0.75);
});
