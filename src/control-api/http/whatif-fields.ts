import * as z from "zod";
import { PROFILE_NAMES } from "../../platform/catalog/defaults-and-limits.ts";
import { PRICE_LIST_DATES, PRICED_PLANS } from "../../platform/catalog/price-lists.ts";
import type { WorldHandle } from "../../worlds/world-handle.ts";

const MAX_POLICIES = 20;
/** Computes that are listed for each policy. */
const MAX_LISTED_COMPUTES = 100;
const MAX_SOURCE_CHARACTERS = 256;
const MAX_IGNORED_SOURCES = 20;

/** The value of a command-line flag; numbers need no quotes. It is parsed where the question is answered. */
const flag = z
  .union([z.string().max(64), z.number()], { error: "must be a string or a number" })
  .transform(String);
/** The name of a source; the flag is repeatable. */
const source = z.string().min(1).max(MAX_SOURCE_CHARACTERS);
const policy = z.string().min(1).max(128);
export const whatIfQuestion = z.strictObject({
  policy: z.union([policy, z.array(policy).min(1).max(MAX_POLICIES)], {
    error: `must be a policy like fixed:60, or up to ${MAX_POLICIES} of them`,
  }),
  from: flag.optional(),
  to: flag.optional(),
  present: flag.optional(),
  profile: flag.pipe(z.enum(PROFILE_NAMES)).optional(),
  price: z.number().min(0).optional(),
  prices: z.enum(PRICE_LIST_DATES).optional(),
  price_plan: z.enum(PRICED_PLANS).optional(),
  cu: z.number().positive().optional(),
  cold_start_worth: flag.optional(),
  ignore_waits_of: z
    .union([source.transform((name) => [name]), z.array(source).max(MAX_IGNORED_SOURCES)], {
      error: `must be the source of requests that nobody waits for, or up to ${MAX_IGNORED_SOURCES} of them`,
    })
    .optional(),
  start_latency: flag.optional(),
  seed: z.int().min(0).max(4_294_967_295).optional(),
  replications: z.int().min(1).optional(),
  by_compute: z.int().min(1).max(MAX_LISTED_COMPUTES).optional(),
});

/** Fields of a request for advice, in addition to those of the question. */
export const adviceQuestion = whatIfQuestion
  .omit({ policy: true, price: true, price_plan: true, replications: true, by_compute: true })
  .extend({
    plan: z.enum(PRICED_PLANS).optional(),
    budget: z.number().min(0).optional(),
    slo: z.string().max(128).optional(),
    load_per_request: z.number().positive().optional(),
  });

/**
 * Recommends changes of a world, from the traffic in its journal. Throws a `RangeError` that names the invalid field.
 */
export type AskAdvice = (world: WorldHandle, question: z.output<typeof adviceQuestion>) => Promise<object>;

/** A question about a world: policies to compare with its own, and the period. Defaults are those of `standin whatif compare`. */
type WhatIfQuestion = {
  readonly policies: readonly string[];
} & Pick<
  z.output<typeof whatIfQuestion>,
  | "from"
  | "to"
  | "present"
  | "profile"
  | "price"
  | "prices"
  | "price_plan"
  | "cu"
  | "cold_start_worth"
  | "ignore_waits_of"
  | "start_latency"
  | "seed"
  | "replications"
  | "by_compute"
>;

/** Answers from the traffic in a world's journal. Throws a `RangeError` that names the invalid field. */
export type AskWhatIf = (world: WorldHandle, question: WhatIfQuestion) => Promise<object>;
