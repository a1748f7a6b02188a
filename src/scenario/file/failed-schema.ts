import * as z from "zod";
import { documented, strictObject } from "../../traffic/generated/pattern-fields.ts";

const loggedStatement = strictObject({
  at: z.string().meta(documented("instant at which it ended", "2026-01-01T00:10:00.000Z")),
  endpoint: z.string().meta(documented("id of the compute", "ep-dawn-king-a527wlyu")),
  database: z.string().meta(documented("its database", "neondb")),
  role: z.string().meta(documented("its role", "neondb_owner")),
  text: z.string().meta(documented("its text, without passwords", "insert into users values ($1)")),
  parameters: z
    .number()
    .int()
    .min(0)
    .meta(documented("the number of its parameters, whose values are not stored", 1)),
  outcome: z.string().meta(documented("command tag, error, or why it has no answer", "INSERT 0 1")),
});

/** The failure for which the file was written, and the world at that instant. */
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
  sql: z
    .array(loggedStatement)
    .optional()
    .meta(
      documented(
        "the newest statements of Postgres clients in the failed test, which no step of this file executes (default: none)",
        [
          {
            at: "2026-01-01T00:10:00.000Z",
            endpoint: "ep-dawn-king-a527wlyu",
            database: "neondb",
            role: "neondb_owner",
            text: "select 1",
            parameters: 0,
            outcome: "SELECT 1",
          },
        ],
      ),
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

export type FailedStatement = z.output<typeof loggedStatement>;
export type Failed = z.output<typeof failed>;
