import fc from "fast-check";
import { expect, test } from "vitest";
import { answerOf, mergeParts, type NamedPart } from "../../src/cli/whatif/parts/merge-parts.ts";
import { parsePart, partText } from "../../src/cli/whatif/parts/part-file.ts";
import type { Shard } from "../../src/kernel/shard.ts";
import { randomFrom } from "../../src/simulation/random.ts";
import type { Trace } from "../../src/traffic/recorded/trace/trace.ts";
import { questionFrom } from "../../src/whatif/input/question.ts";
import { fleetGapsOf, replayComputes } from "../../src/whatif/input/replay-jobs.ts";
import { POLICY_FORMS, parsePolicy } from "../../src/whatif/policies/parse-policy.ts";
import { plainOutcome } from "../../src/whatif/replay/replay-outcome.ts";
import { trafficOf } from "../../src/whatif/trace/traffic.ts";
import { expectHolds } from "../support/properties/properties.ts";
import { SECOND, tracesAround } from "../support/traffic/traces.ts";

const policies = POLICY_FORMS.map(({ form }) =>
  parsePolicy(form.replace("SECONDS", "90").replace(/\[.*\]/, "")),
).map(({ name }) => name);
const latency = { kind: "lognormal", medianMs: 1_344, sigma: 1.326, maxMs: 600_000 } as const;

function partOf(trace: Trace, shard: Shard | undefined): NamedPart {
  const traffic = trafficOf(trace);
  const question = questionFrom({ cu: 1, present: 300, startLatency: latency });
  const setup = {
    ...{
      command: "compare" as const,
      question,
      policies: policies.filter((name) => name !== "own"),
      replications: 1,
    },
    ...{ period: trace.period, computes: trace.computes.length },
    input: { files: [], notes: [], bad: [] },
  };
  const fleetGaps = fleetGapsOf(traffic, question);
  const outcomes = answerOf(setup).passes.map(({ jobs }) => {
    const work = { jobs, from: 0, to: trace.computes.length, shard, fleetGaps };
    const replay = replayComputes(traffic, work, randomFrom);
    for (let step = replay.next(); ; step = replay.next())
      if (step.done === true) return step.value.map(plainOutcome);
  });
  const manifest = { standin: "0", command: "compare", repeat: "", inputs: [], question: {} };
  const part = { shard: shard ?? { index: 1, of: 1 }, setup, isTraceDivided: false, manifest, outcomes };
  const source = `part-${part.shard.index}.json`;
  return { ...parsePart(partText(part), source), source };
}

const textOf = (parts: readonly NamedPart[]) => {
  const { result, input } = mergeParts(parts);
  return JSON.stringify([result.summary, input]);
};

test("the parts of any division, in any order, give the same bytes as one replay", async () => {
  const division = fc.integer({ min: 1, max: 5 }).chain((of) =>
    fc.shuffledSubarray(
      Array.from({ length: of }, (_, index) => ({ index: index + 1, of })),
      { minLength: of },
    ),
  );
  await expectHolds(
    fc.asyncProperty(tracesAround(90 * SECOND), division, async (trace, shards) => {
      expect(textOf(shards.map((shard) => partOf(trace, shard)))).toBe(textOf([partOf(trace, undefined)]));
    }),
    10,
  );
});
