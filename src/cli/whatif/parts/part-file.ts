import { createHash } from "node:crypto";
import * as z from "zod";
import { MAX_SHARDS, type Shard } from "../../../kernel/shard.ts";
import type { PlainOutcome } from "../../../whatif/replay/replay-outcome.ts";
import { VERSION } from "../../server/version.ts";
import { CliError } from "../../terminal/cli-error.ts";
import type { Manifest } from "../report-output.ts";
import type { BacktestSetup } from "./backtest-answer.ts";
import type { CompareSetup } from "./compare-answer.ts";

/** The outcomes of the computes of one shard, and what the report of all parts needs. */
export type AnswerPart = {
  readonly shard: Shard;
  readonly setup: CompareSetup | BacktestSetup;
  /** Whether the trace itself contained only the computes of the shard. */
  readonly isTraceDivided: boolean;
  readonly manifest: Manifest;
  /** The last line of the text of all parts; see `decisionLine`. */
  readonly lastLine?: string | undefined;
  /** By pass and job. */
  readonly outcomes: readonly (readonly PlainOutcome[])[];
};

const FORMAT = "standin-part";
/** The first bytes of a part, before its first value. */
export const PART_MARK = `{"format":"${FORMAT}"`;

const envelope = z.object({
  format: z.literal(FORMAT),
  standin: z.string(),
  sha256: z.string(),
  part: z.looseObject({
    shard: z.object({
      index: z.int().positive().max(MAX_SHARDS),
      of: z.int().positive().max(MAX_SHARDS),
    }),
  }),
});

export function partText(part: AnswerPart): string {
  const text = JSON.stringify(part, encoded);
  return `${PART_MARK},"standin":"${VERSION}","sha256":"${sha256(text)}","part":${text}}\n`;
}

/** Throws a `CliError` if the text is not a complete part that this release has written. */
export function parsePart(text: string, source: string): AnswerPart {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new CliError(`${source}: is not a complete part of whatif compare or backtest; write it again`);
  }
  const { success, data } = envelope.safeParse(value);
  if (!success)
    throw new CliError(`${source}: is not a part of whatif compare or backtest, written with --shard`);
  if (data.standin !== VERSION)
    throw new CliError(
      `${source}: is a part of standin ${data.standin}; write all parts with standin ${VERSION}`,
    );
  // Not the parsed object, whose properties may be in another order.
  const partAsWritten = JSON.stringify((value as { part: object }).part);
  if (sha256(partAsWritten) !== data.sha256)
    throw new CliError(`${source}: the part is damaged; write it again`);
  return JSON.parse(partAsWritten, decoded);
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

const INFINITE = { infinite: true };

/** JSON has neither typed arrays nor infinity. */
function encoded(_key: string, value: unknown): unknown {
  if (value instanceof Float64Array) return { float64: [...value] };
  return value === Number.POSITIVE_INFINITY ? INFINITE : value;
}

function decoded(_key: string, value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if ("float64" in value) return Float64Array.from(value.float64 as number[]);
  return "infinite" in value ? Number.POSITIVE_INFINITY : value;
}
