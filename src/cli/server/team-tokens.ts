import * as z from "zod";
import { readText } from "../../app/read-text.ts";
import { TEAM_RIGHTS, type TeamRight } from "../../control-api/http/rights.ts";
import type { TeamToken } from "../../control-api/http/team-token.ts";
import { issueText } from "../../input-limits/issue-text.ts";
import { MAX } from "../../input-limits/limits.ts";
import { SECRET_PATTERN, SECRET_RULE } from "../../platform/model/api-key.ts";
import { formatProblems, type Problem, SourceDocument } from "../../scenario/file/yaml-document.ts";
import { strictObject } from "../../traffic/generated/pattern-fields.ts";
import { hashSecret } from "../../worlds/secrets.ts";
import { CliError } from "../terminal/cli-error.ts";
import { unreadableInput } from "../terminal/input-file.ts";

const WORLD = /^[a-z0-9][a-z0-9-]{0,62}\*?$/;

const team = strictObject({
  name: z.string().min(1).max(64),
  sha256: z
    .string()
    .regex(/^[0-9a-f]{64}$/, "must be the SHA-256 of the token, 64 hexadecimal digits in lower case")
    .optional(),
  env: z
    .string()
    .regex(/^[A-Za-z_]\w*$/, "must be the name of an environment variable")
    .optional(),
  worlds: z
    .array(z.string().regex(WORLD, 'must be the name of a world, or its beginning and "*", such as team-a-*'))
    .min(1),
  may: z.array(z.enum(Object.keys(TEAM_RIGHTS) as [TeamRight, ...TeamRight[]])).min(1),
});
const file = strictObject({ version: z.literal(1), teams: z.array(team).min(1).max(MAX.teamTokens) });

/** Reads the tokens of teams. `env`: where those are that the file names by a variable. */
export function readTeamTokens(path: string, env: NodeJS.ProcessEnv): readonly TeamToken[] {
  const source = new SourceDocument(readOrThrow(path));
  const failWith = (problems: readonly Problem[]): never => {
    throw new CliError(`--team-tokens: cannot use the file:\n${formatProblems(path, problems)}`, true);
  };
  if (source.problems.length > 0) return failWith(source.problems);
  const parsed = file.safeParse(source.value, { error: issueText });
  if (!parsed.success) return failWith(source.problemsOf(parsed.error));
  const problems: Problem[] = [];
  const tokens: TeamToken[] = [];
  for (const [index, { name, worlds, may, ...given }] of parsed.data.teams.entries()) {
    const report = (key: string, message: string) =>
      problems.push(source.problemAt(["teams", index, key], message));
    const hash = hashOf(given, env, report);
    if (tokens.some((other) => other.name === name)) report("name", "another team has this name");
    if (tokens.some((other) => other.hash === hash))
      report(given.env === undefined ? "sha256" : "env", "another team has this token");
    if (hash !== undefined) tokens.push({ name, hash, worlds, may });
  }
  return problems.length === 0 ? tokens : failWith(problems);
}

function hashOf(
  { sha256, env: variable }: { readonly sha256?: string | undefined; readonly env?: string | undefined },
  env: NodeJS.ProcessEnv,
  report: (key: string, message: string) => void,
): string | undefined {
  if ((sha256 === undefined) === (variable === undefined)) {
    report("sha256", "a team needs either sha256 or env");
    return undefined;
  }
  if (variable === undefined) return sha256;
  const token = env[variable] ?? "";
  if (SECRET_PATTERN.test(token)) return hashSecret(token);
  report(
    "env",
    token === "" ? `the variable ${variable} is not set` : `the variable ${variable} ${SECRET_RULE}`,
  );
  return undefined;
}

function readOrThrow(path: string): string {
  try {
    return readText(path, MAX.scenarioFile);
  } catch (error) {
    if (error instanceof Error && "code" in error) throw unreadableInput(`--team-tokens: ${path}`, error);
    throw error;
  }
}
