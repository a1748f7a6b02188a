import * as z from "zod";
import type { WorldHandle } from "../../worlds/world-handle.ts";

const MAX_POLICIES = 20;

/** As a flag takes it, where a number need not stand in quotes. What it means is known where it is answered. */
const flag = z
  .union([z.string().max(64), z.number()], { error: "must be a text or a number" })
  .transform(String);
const policy = z.string().min(1).max(128);
export const whatIfQuestion = z.strictObject({
  policy: z.union([policy, z.array(policy).min(1).max(MAX_POLICIES)], {
    error: `must be a policy like fixed:60, or up to ${MAX_POLICIES} of them`,
  }),
  from: flag.optional(),
  to: flag.optional(),
  present: flag.optional(),
  profile: flag.pipe(z.enum(["2024", "2026"])).optional(),
  price: z.number().min(0).optional(),
  cu: z.number().positive().optional(),
  cold_start_worth: flag.optional(),
  start_latency: flag.optional(),
  seed: z.int().min(0).max(4_294_967_295).optional(),
  replications: z.int().min(1).optional(),
});

/** A question about a world: policies, beside what it has, over a period. What is left out has the defaults of `standin whatif compare`. */
type WhatIfQuestion = {
  readonly policies: readonly string[];
} & Pick<
  z.output<typeof whatIfQuestion>,
  | "from"
  | "to"
  | "present"
  | "profile"
  | "price"
  | "cu"
  | "cold_start_worth"
  | "start_latency"
  | "seed"
  | "replications"
>;

/** Answers from the traffic in a world's journal. Throws a RangeError that names the field which cannot be answered. */
export type AskWhatIf = (world: WorldHandle, question: WhatIfQuestion) => Promise<object>;
