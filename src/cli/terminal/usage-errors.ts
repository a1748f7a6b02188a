import { InvalidArgumentError } from "commander";
import { closestMatch } from "../../kernel/text.ts";

/** A longer value is shortened in a message. */
const MAX_SHOWN = 100;
const EXPECTED = "expected ";
const CHOICES = /^Allowed choices are (.*)\.$/;

/**
 * The error of an option's or an argument's parser. `rule`: what is valid, as a noun ("a duration such as 5m") or as a
 * rule of a field ("must be a duration such as 5m").
 */
export function invalidValue(rule: string): InvalidArgumentError {
  return new InvalidArgumentError(`${EXPECTED}${rule.replace(/^must be /, "")}`);
}

/** The forms of commander's errors, and what is printed instead. */
const FORMS: readonly (readonly [RegExp, (...groups: string[]) => string])[] = [
  [
    /^option '(.*?)' value '([\s\S]*)' from env '(\w+)' is invalid\. ([\s\S]*)$/,
    (flags, value, variable, reason) =>
      describeInvalid(`${nameOf(flags as string)} (${variable})`, reason as string, value as string),
  ],
  [
    /^option '(.*?)' argument '([\s\S]*)' is invalid\. ([\s\S]*)$/,
    (flags, value, reason) => describeInvalid(nameOf(flags as string), reason as string, value as string),
  ],
  [
    /^command-argument value '([\s\S]*)' is invalid for argument '(.*)'\. ([\s\S]*)$/,
    (value, name, reason) => describeInvalid(`<${name}>`, reason as string, value as string),
  ],
  [/^option '(.*)' argument missing$/, (flags) => `${nameOf(flags as string)}: expected a value (${flags})`],
  [
    /^option '(.*)' is given twice; (.*)$/,
    (flags, rest) => `${nameOf(flags as string)}: given twice; ${rest}`,
  ],
  [/^required option '(.*)' not specified$/, (flags) => `${flags} is required`],
  [
    /^too many arguments(?: for '(.*)')?\. Expected (\d+) arguments? but got (\d+)\.$/,
    (command, expected, got) =>
      `too many arguments${command === undefined ? "" : ` for ${command}`}: expected ${expected === "0" ? "none" : expected}, got ${got}`,
  ],
];

/** An error of commander, such as `error: option '--port <n>' argument 'x' is invalid. …`, as all others are printed. */
export function usageMessage(text: string): string {
  const message = text
    .replace(/^error: /, "")
    .trimEnd()
    .replace(/\n\(Did you mean (.*)\?\)$/, "; did you mean $1?");
  for (const [pattern, describe] of FORMS) {
    const match = pattern.exec(message);
    if (match !== null) return describe(...match.slice(1));
  }
  return message;
}

function describeInvalid(name: string, reason: string, value: string): string {
  const choices = CHOICES.exec(reason)?.[1]?.split(", ");
  if (choices !== undefined) return `${name}: ${expectedOneOf(choices, value)}`;
  if (reason.startsWith(EXPECTED) && !/\bgot "/.test(reason))
    return `${name}: ${reason}, got ${shown(value)}`;
  // The reasons of policies and clients begin with their own name.
  return `${name}: ${reason.replace(/^(policy|client): /, "").replace(/\.$/, "")}`;
}

/** For a value that is one of a list, with the closest one. */
export function expectedOneOf(choices: readonly string[], value: string): string {
  // A slip of the hand rarely changes the first letter. Another number is another meaning, not a slip.
  const alike = choices.filter((choice) => /^[a-z]/i.test(choice) && choice[0] === value[0]);
  const completed = alike.filter((choice) => choice.startsWith(value));
  const near = completed.length === 1 ? completed[0] : closestMatch(value, alike);
  const suggestion = near === undefined ? "" : `; did you mean ${near}?`;
  return `${EXPECTED}${listOf(choices)}, got ${shown(value)}${suggestion}`;
}

function listOf(choices: readonly string[]): string {
  if (choices.length < 2) return choices.join("");
  return `${choices.slice(0, -1).join(", ")} or ${choices.at(-1)}`;
}

/** `--port <n>` and `-p, --port <n>` are `--port`. */
function nameOf(flags: string): string {
  return /--[\w-]+/.exec(flags)?.[0] ?? flags;
}

/** Without the password of a URL. */
function shown(value: string): string {
  const text = value.replace(/:\/\/[^@/]*@/, "://…@");
  return `"${text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text}"`;
}
