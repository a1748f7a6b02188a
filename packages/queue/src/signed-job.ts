import * as z from "zod";
import type { PackedJob } from "./packed-job.ts";
import { jobIdOf, jsonIn } from "./run-results.ts";
import type { QueueKey } from "./signing-key.ts";

/** A job as it is in Redis: its text, signed together with its id in the queue. */
export type SignedJob = { readonly job: string; readonly signature: string };

/** Largest text of a job. Scenarios, recordings and worlds are not in it. */
const MAX_JOB_CHARACTERS = 4 * 1024 ** 2;
const SIGNATURE = /^[0-9a-f]{64}$/;

const digest = z.string().regex(/^[0-9a-f]{64}$/);
const identity = { id: digest, run: z.string().regex(/^[0-9a-f]{16}$/), isReusable: z.boolean() };

const packedJob = z.union([
  z.strictObject({
    ...identity,
    args: z.array(z.string()),
    directory: z.string(),
    title: z.string(),
  }),
  z.strictObject({
    ...identity,
    file: z.string(),
    variant: z.int().min(0),
    seed: z.number().optional(),
    bail: z.boolean(),
    text: digest,
    recordings: z.array(z.tuple([z.string(), digest])),
    world: z.strictObject({ path: z.string(), file: digest }).optional(),
  }),
]);

/** Somebody without the key has written the job, or it is not the job of its id. */
export class RejectedJob extends Error {
  override readonly name = "RejectedJob";
}

export function signJob(key: QueueKey, job: PackedJob): SignedJob {
  const text = JSON.stringify(job);
  return { job: text, signature: key.sign("job", jobIdOf(job), text).toString("hex") };
}

/** Throws a `RejectedJob`. `id` is that in the queue. */
export function openJob(key: QueueKey, id: string | undefined, data: unknown): PackedJob {
  const { job: text, signature } = (data ?? {}) as Partial<Record<keyof SignedJob, unknown>>;
  if (typeof text !== "string" || typeof signature !== "string" || !SIGNATURE.test(signature))
    throw new RejectedJob("the job is not signed");
  if (text.length > MAX_JOB_CHARACTERS) throw new RejectedJob("the job is too long");
  if (!key.isSigned("job", id ?? "", text, Buffer.from(signature, "hex")))
    throw new RejectedJob("the job is not signed with the key of this worker for its id");
  const parsed = packedJob.safeParse(jsonIn(text));
  if (!parsed.success) throw new RejectedJob("the job is invalid");
  // The signature has the id, but without a secret key everyone can sign.
  if (jobIdOf(parsed.data) !== id) throw new RejectedJob("the job has another id");
  return parsed.data;
}
