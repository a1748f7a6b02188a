import * as z from "zod";
import { issueText } from "../../input-limits/issue-text.ts";
import type { Shard } from "../../kernel/shard.ts";
import type { CouldNotRun, ReportedVerdict } from "../run/verdict.ts";

/** A report that cannot be merged. */
export class MergeError extends Error {
  override readonly name = "MergeError";
}

const instant = z.iso.datetime();
const common = {
  scenario: z.string(),
  file: z.string(),
  values: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])),
  seed: z.int(),
  repeat: z.string(),
};
const run = z.discriminatedUnion("verdict", [
  z.looseObject({ ...common, verdict: z.literal("could_not_run"), reason: z.string() }),
  z.looseObject({
    ...common,
    verdict: z.enum(["passed", "failed"]),
    started_at: instant,
    ended_at: instant,
    state: z.string(),
    steps: z.array(z.looseObject({ place: z.string(), name: z.string(), at: instant })),
    expectations: z.array(
      z.looseObject({
        what: z.string(),
        expected: z.string(),
        result: z.enum(["passed", "failed", "not_checked"]),
        at: instant.optional(),
      }),
    ),
    failures: z.array(
      z.looseObject({
        what: z.string(),
        at: instant,
        expected: z.string(),
        actual: z.string(),
        broken_by: z.string().optional(),
        last_change: z.string().optional(),
        expectation: z.string().optional(),
        line: z.int().optional(),
        column: z.int().optional(),
        caused_by: z.array(z.string()),
      }),
    ),
  }),
]);

const report = z.object({
  version: z.literal(2),
  shard: z.object({ index: z.int().positive(), of: z.int().positive() }),
  runs: z.array(run),
});

/** A run as it is in a JSON report. */
export type ReportedRun = ReportedVerdict | CouldNotRun;

export type ShardReport = {
  /** The name of the file, for errors. */
  readonly source: string;
  readonly shard: Shard;
  readonly runs: readonly ReportedRun[];
};

/** Reads the JSON report of `standin run --shard`. Throws `MergeError` if it is something else. */
export function parseShardReport(text: string, source: string): ShardReport {
  let value: { shard?: unknown; runs?: unknown };
  try {
    value = JSON.parse(text);
  } catch {
    throw new MergeError(
      `${source}: is not JSON; name a file that standin run --shard --reporter json wrote`,
    );
  }
  const { success, data, error } = report.safeParse(value, { error: issueText });
  if (!success) {
    if (typeof value === "object" && value !== null && "runs" in value && value.shard === undefined)
      throw new MergeError(`${source}: is the report of all runs; only reports of --shard can be merged`);
    const [{ path, message } = { path: [], message: "" }] = error.issues;
    throw new MergeError(
      `${source}: is not a JSON report of standin run --shard: ${[path.join("."), message].filter((part) => part !== "").join(": ")}`,
    );
  }
  // Not the parsed objects, whose properties are in another order.
  return { source, shard: data.shard, runs: value.runs as readonly ReportedRun[] };
}

/** The runs of all shards, in the order of a command without shards. Throws `MergeError` unless each shard is there once. */
export function mergeShards(reports: readonly ShardReport[]): readonly ReportedRun[] {
  return shardsInOrder(reports).flatMap(({ runs }) => runs);
}

/** By the number of the shard. Throws `MergeError` unless each shard is there once. */
export function shardsInOrder<T extends Pick<ShardReport, "source" | "shard">>(
  reports: readonly T[],
): readonly T[] {
  const ordered = [...reports].sort((one, other) => one.shard.index - other.shard.index);
  const of = ordered[0]?.shard.of ?? 0;
  for (const [position, { source, shard }] of ordered.entries()) {
    const previous = ordered[position - 1];
    if (shard.of !== of)
      throw new MergeError(
        `${source}: is shard ${shard.index}/${shard.of}, but ${ordered[0]?.source} is shard ${ordered[0]?.shard.index}/${of}; merge reports of the same number of shards`,
      );
    if (previous?.shard.index === shard.index)
      throw new MergeError(
        `${source}: is shard ${shard.index}/${of}, as ${previous.source} is; give each shard once`,
      );
  }
  const present = new Set(ordered.map(({ shard }) => shard.index));
  const missing = Array.from({ length: of }, (_, index) => index + 1).filter((index) => !present.has(index));
  if (missing.length > 0)
    throw new MergeError(
      `the reports of these shards are missing: ${missing.map((index) => `${index}/${of}`).join(", ")}`,
    );
  return ordered;
}
