import { Hono } from "hono";
import * as z from "zod";
import { fail } from "../../http/request.ts";
import type { WorldHandle } from "../../worlds/world-handle.ts";
import { type ControlOptions, handler } from "../http/handler.ts";

const MAX_POLICIES = 20;

/** As a flag takes it, where a number need not stand in quotes. What it means is known where it is answered. */
const flag = z
  .union([z.string().max(64), z.number()], { error: "must be a text or a number" })
  .transform(String);
const policy = z.string().min(1).max(128);
const body = z.strictObject({
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
  z.output<typeof body>,
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

/** What other policies would have done with the traffic of a world. */
export function whatIfRoutes(options: ControlOptions): Hono {
  const app = new Hono();
  app.post(
    "/whatif",
    handler(options, { body }, async ({ world, body: { policy: requested, ...question } }) => {
      try {
        return await options.askWhatIf(world, {
          policies: typeof requested === "string" ? [requested] : requested,
          ...question,
        });
      } catch (error) {
        if (error instanceof RangeError) fail({ status: 400, code: "BAD_REQUEST", message: error.message });
        throw error;
      }
    }),
  );
  return app;
}
