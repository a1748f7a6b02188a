import * as z from "zod";
import { documented } from "../../traffic/generated/pattern-fields.ts";

/** Values of a result that later steps use, by their names. */
export function captureFrom(result: string, example: Readonly<Record<string, string>>) {
  const name = z
    .string()
    .regex(/^[a-z][a-z0-9_]*$/, "must consist of a-z, 0-9 and _, and start with a letter");
  const meaning = `values to capture from the ${result}, by path, for use as {name} in later steps`;
  return z.record(name, z.string()).optional().meta(documented(meaning, example));
}
