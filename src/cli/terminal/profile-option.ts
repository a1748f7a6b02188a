import { basename, extname } from "node:path";
import type { ProfileFile, WorldProfile } from "../../app/profile-file.ts";
import { MAX } from "../../input-limits/limits.ts";
import { PROFILES, type ProfileName } from "../../platform/catalog/defaults-and-limits.ts";
import { isUserError } from "../../ports/user-error.ts";
import { CliError } from "./cli-error.ts";
import { readText } from "./read-text.ts";

/** The suffix that `standin account calibrate` gives; a name before it is that of the profile. */
const PROFILE_SUFFIX = ".profile";

export function isProfileName(text: string): text is ProfileName {
  return Object.hasOwn(PROFILES, text);
}

/** What a world takes from `--profile`. The parser of files is loaded on demand. */
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
  parse: (content: string, defaultName: string, fileName: string) => ProfileFile,
): ProfileFile {
  let content: string;
  try {
    content = readText(path, MAX.settingsFile);
  } catch {
    const names = Object.keys(PROFILES).join(", ");
    throw new CliError(`--profile: expected ${names} or a readable file, got "${path}"`, true);
  }
  try {
    return parse(content, basename(basename(path, extname(path)), PROFILE_SUFFIX), path);
  } catch (error) {
    if (isUserError(error)) throw new CliError(`--profile: cannot use the file: ${error.message}`, true);
    throw error;
  }
}

export function profileError(path: string, message: string): CliError {
  return new CliError(`--profile ${path}: ${message}`, true);
}
