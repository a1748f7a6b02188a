import type { ProfileFile, WorldProfile } from "../../app/profile-file.ts";
import { readText } from "../../app/read-text.ts";
import { MAX } from "../../input-limits/limits.ts";
import { isProfileName, PROFILE_NAMES } from "../../platform/catalog/defaults-and-limits.ts";
import { isUserError } from "../../ports/user-error.ts";
import { CliError } from "./cli-error.ts";

/** Settings that a world takes from `--profile`. The parser of files is loaded on demand. */
export async function readWorldProfile(text: string): Promise<WorldProfile> {
  if (isProfileName(text)) return { profile: text };
  const { parseProfileFile, worldProfileOf } = await import("../../app/profile-file.ts");
  const file = readProfileFile(text, parseProfileFile);
  try {
    return worldProfileOf(file);
  } catch (error) {
    if (isUserError(error)) throw profileError(text, error.message);
    throw error;
  }
}

/** Reads and parses a file. Throws a `CliError` that names the option, the place in the file and the field. */
export function readProfileFile(
  path: string,
  parse: (content: string, path: string) => ProfileFile,
): ProfileFile {
  let content: string;
  try {
    content = readText(path, MAX.settingsFile);
  } catch {
    throw new CliError(
      `--profile: expected ${PROFILE_NAMES.join(", ")} or a readable file, got "${path}"`,
      true,
    );
  }
  try {
    return parse(content, path);
  } catch (error) {
    if (isUserError(error)) throw new CliError(`--profile: cannot use the file: ${error.message}`, true);
    throw error;
  }
}

export function profileError(path: string, message: string): CliError {
  return new CliError(`--profile ${path}: ${message}`, true);
}
