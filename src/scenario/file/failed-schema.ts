import * as z from "zod";
import { documented, strictObject } from "../../traffic/generated/pattern-fields.ts";

/** What failed when the file was written, and the world at that instant. */
export const failed = strictObject({
  version: z.literal(1).meta(documented("version of this entry", 1)),
  by: z
    .enum(["test", "run"])
    .meta(
      documented(
        "test: a test failed, whose assertion no step of this file has, so a run reports its message at the end; run: a step or expectation of this file failed",
        "test",
      ),
    ),
  what: z
    .string()
    .min(1)
    .meta(documented("name of the test, or of the step or expectation", "a client meets a failed request")),
  at: z
    .string()
    .meta(documented("instant of the world's clock at which it failed", "2026-01-01T00:10:00.000Z")),
  message: z.string().meta(documented("why it failed", "expected 503 to be 200")),
  dropped: z
    .array(z.string())
    .optional()
    .meta(
      documented("what happened in the world and is not in the steps (default: nothing)", [
        "SQL of ep-dawn-king-a527wlyu",
      ]),
    ),
  world: z
    .string()
    .meta(
      documented(
        "the world at that instant, for standin open: data:application/gzip;base64, and the compressed file; or the path of its file, relative to this one",
        "a-client-meets-a-failed-request.failed.sqlite",
      ),
    ),
  files: z
    .record(z.string(), z.string().regex(/^[0-9a-f]{64}$/))
    .optional()
    .meta(
      documented(
        "files that were written beside this one, with their SHA-256; the next failure of this name replaces no other (default: none)",
        { "a-client-meets-a-failed-request.failed.sqlite": "9f86d081".repeat(8) },
      ),
    ),
});

export type Failed = z.output<typeof failed>;
