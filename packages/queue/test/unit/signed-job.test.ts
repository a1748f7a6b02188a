import { expect, test } from "vitest";
import type { PackedJob } from "../../src/packed-job.ts";
import { jobIdOf } from "../../src/run-results.ts";
import { openJob, RejectedJob, signJob } from "../../src/signed-job.ts";
import { QueueKey } from "../../src/signing-key.ts";

const KEY = new QueueKey("0123456789abcdef0123456789abcdef");
const OTHER_KEY = new QueueKey("fedcba9876543210fedcba9876543210");
const RUN = {
  ...{ id: "a".repeat(64), run: "1".repeat(16), isReusable: true },
  ...{ file: "s.yaml", variant: 0, bail: false, text: "b".repeat(64), recordings: [] },
} as const;
const ID = jobIdOf(RUN);

test("a job is opened as it was signed", () => {
  const part = { ...RUN, args: ["whatif", "compare"], directory: "/traces", title: "part" };
  const { file: _, variant: __, bail: ___, text: ____, recordings: _____, ...packedPart } = part;
  for (const job of [RUN, { ...RUN, seed: 7, world: { path: "/w", file: "c".repeat(64) } }, packedPart])
    expect(openJob(KEY, jobIdOf(job), JSON.parse(JSON.stringify(signJob(KEY, job))))).toEqual(job);
});

const signed = signJob(KEY, RUN);

test.each([
  ["a job without a signature", RUN],
  ["nothing", undefined],
  ["a text", "job"],
  ["a signature of another form", { ...signed, signature: { length: 64 } }],
  ["a signature that is cut", { ...signed, signature: signed.signature.slice(2) }],
  ["a changed job", { ...signed, job: signed.job.replace('"bail":false', '"bail":true') }],
  ["a job of another key", signJob(OTHER_KEY, RUN)],
  [
    "the signature of another purpose",
    { ...signed, signature: KEY.sign("result", ID, signed.job).toString("hex") },
  ],
])("%s is rejected", (_, data) => {
  expect(() => openJob(KEY, ID, data)).toThrow(RejectedJob);
});

test.each([undefined, "", `${RUN.id}-${"2".repeat(16)}`, `${"b".repeat(64)}-${RUN.run}`])(
  "a job under the id of another one is rejected: %s",
  (id) => {
    expect(() => openJob(KEY, id, signed)).toThrow(RejectedJob);
  },
);

test.each([
  { ...RUN, id: "../../x" },
  { ...RUN, run: "x" },
  { ...RUN, text: "../../etc/passwd" },
  { ...RUN, recordings: [["a", "../b"]] },
  { ...RUN, world: { path: "/w", file: "../w" } },
  { ...RUN, variant: -1 },
  { ...RUN, isWithoutFiles: false },
  { ...RUN, keep: "/tmp/x" },
  { ...RUN, args: ["serve"], directory: "/", title: "both" },
])("a signed job of another form is rejected: %j", (job) => {
  expect(() =>
    openJob(KEY, jobIdOf(job as unknown as PackedJob), signJob(KEY, job as unknown as PackedJob)),
  ).toThrow(RejectedJob);
});

test("the id of a key does not depend on the machine, and does not contain it", () => {
  expect(new QueueKey("0123456789abcdef0123456789abcdef").id).toBe(KEY.id);
  expect(KEY.id).toMatch(/^[0-9a-f]{8}$/);
  expect(OTHER_KEY.id).not.toBe(KEY.id);
});
