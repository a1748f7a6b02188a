import { closeSync, fsyncSync, openSync, rmSync, statSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import * as z from "zod";
import { readText } from "../../../app/read-text.ts";
import { issueText } from "../../../input-limits/issue-text.ts";
import { MAX } from "../../../input-limits/limits.ts";
import { suspendTimeoutOfDelay } from "../../../platform/catalog/suspend-timeout.ts";
import { LONGEST_DELAY_S } from "../../../whatif/trace/gap-histogram.ts";
import { CliError } from "../../terminal/cli-error.ts";
import { unreadableInput } from "../../terminal/input-file.ts";
import { STANDARD_INPUT } from "../../terminal/standard-input.ts";
import type { ServerTarget } from "./apply-delays.ts";
import { COMPUTE_ID } from "./saved-answer.ts";

const VERSION = 1;
/** Most revert files beside one answer. */
const MAX_REVERT_FILES = 1_000;

/** Delay in seconds, as in the API: 0 is the default, -1 is never. */
const secondsSchema = z.int().min(-1).max(LONGEST_DELAY_S);

const revertSchema = z.strictObject({
  revert_of: z.literal("standin whatif apply"),
  version: z.literal(VERSION),
  api_url: z.string(),
  computes: z.array(
    z.strictObject({
      compute: z.string().regex(COMPUTE_ID),
      project: z.string().regex(/^[\w-]{1,100}$/),
      /** Before the change, and after it. */
      suspend_timeout_seconds: secondsSchema,
      set_suspend_timeout_seconds: secondsSchema,
    }),
  ),
});
type RevertFile = z.output<typeof revertSchema>;

/** The delays that were in force before a change. */
export type PreviousDelay = RevertFile["computes"][number];

/**
 * Writes the current delays to a new file next to the answer, and returns its name. The file is complete on the disk when
 * this returns. Throws if a current delay is not known.
 */
export function writeRevertFile(answer: string, apiUrl: string, targets: readonly ServerTarget[]): string {
  const content: RevertFile = {
    revert_of: "standin whatif apply",
    version: VERSION,
    api_url: apiUrl,
    computes: targets.map(({ compute, projectId, currentS, delay }) => {
      if (currentS === undefined)
        throw new CliError(
          `${compute}: the server does not state its current delay, so that could not be restored; nothing was changed`,
        );
      return {
        compute,
        project: projectId,
        suspend_timeout_seconds: currentS,
        set_suspend_timeout_seconds: suspendTimeoutOfDelay(delay),
      };
    }),
  };
  return writeNewFile(revertFileBase(answer), `${JSON.stringify(content, null, 2)}\n`);
}

/** Throws if the file is not one that `writeRevertFile` wrote. */
export function readRevertFile(path: string): readonly PreviousDelay[] {
  const content = revertSchema.safeParse(parsedFile(path), { error: issueText });
  if (content.success) return content.data.computes;
  const [issue] = content.error.issues;
  throw new CliError(
    `--revert ${path}: not a file of previous delays that whatif apply wrote: ${issue?.path.join(".") || "the file"}: ${issue?.message}`,
  );
}

/** `fleet.json` and `report/` become `fleet` and `report`. */
function revertFileBase(answer: string): string {
  if (answer === STANDARD_INPUT) return "standin-delays";
  return statSync(answer).isDirectory() ? resolve(answer) : answer.replace(/\.json$/, "");
}

/** Older files have the delays from before older changes, so none is overwritten. */
function writeNewFile(base: string, text: string): string {
  for (let number = 1; number <= MAX_REVERT_FILES; number += 1) {
    const path = `${base}.revert${number === 1 ? "" : `-${number}`}.json`;
    let file: number;
    try {
      file = openSync(path, "wx");
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "EEXIST") continue;
      throw notWritten(path, error);
    }
    try {
      writeFileSync(file, text);
      fsyncSync(file);
      return path;
    } catch (error) {
      rmSync(path, { force: true });
      throw notWritten(path, error);
    } finally {
      closeSync(file);
    }
  }
  throw new CliError(
    `${base}.revert.json: there are ${MAX_REVERT_FILES} such files already; remove those that are not needed. Nothing was changed`,
  );
}

function notWritten(path: string, error: unknown): CliError {
  return new CliError(
    `${path}: the current delays could not be saved, so nothing was changed: ${(error as Error).message}`,
  );
}

function parsedFile(path: string): unknown {
  let text: string;
  try {
    text = readText(path, MAX.savedAnswer);
  } catch (error) {
    throw unreadableInput(`--revert ${path}`, error);
  }
  try {
    return JSON.parse(text);
  } catch {
    throw new CliError(`--revert ${path}: not JSON; name the file that whatif apply wrote`);
  }
}
