import { InvalidArgumentError, type Option } from "commander";
import { POLICY_FORMS } from "../../whatif/policies/parse-policy.ts";
import { RepeatableOption } from "../terminal/options.ts";

/** `--policy`, repeatable; the values are the full names of the policies. */
export function policyOption(
  description: string,
  parse: (text: string) => { readonly name: string },
): Option {
  return new RepeatableOption("--policy <name>", description).argParser(
    (text, previous: readonly string[] | undefined) => [...(previous ?? []), nameOf(text, parse)],
  );
}

/** For the help of a command with `--policy`. */
export const POLICIES_HELP = `Policies:
${POLICY_FORMS.map(({ form, meaning }) => `  ${form.padEnd(40)} ${meaning}`).join("\n")}`;

function nameOf(text: string, parse: (text: string) => { readonly name: string }): string {
  try {
    return parse(text).name;
  } catch (error) {
    if (error instanceof RangeError) throw new InvalidArgumentError(error.message);
    throw error;
  }
}
