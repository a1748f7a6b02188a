import { Command, type Option } from "commander";
import { ignoreWaitsOption } from "./ignore-waits-option.ts";
import { shellQuote } from "./manifest.ts";
import { addQuestionOptions } from "./question-options.ts";
import { addTraceOptions } from "./trace-options.ts";

/** The commands that are the detail behind `standin advise`. */
const DETAILS: readonly string[] = ["curve", "compare", "capacity", "attribute", "backtest", "quota"];

/** Their options of the same meaning, but not the same name, in `standin advise`. */
const RENAMED: Readonly<Record<string, string>> = { "--price-plan": "--plan" };

/** Never repeated on a terminal. */
const SECRETS: readonly string[] = ["--control-token"];

/**
 * The last line of the text of a detail: the command that decides, with the same input. Undefined for other commands.
 * `args`: the typed ones.
 */
export function decisionLine(args: readonly string[], command: Command): string | undefined {
  if (!DETAILS.includes(command.name())) return undefined;
  const accepted = [
    ...addQuestionOptions(addTraceOptions(new Command()), ["price", "pricePlan"]).options,
    ignoreWaitsOption(),
  ];
  const isAccepted = (flag: string) =>
    !SECRETS.includes(flag) && (flag in RENAMED || accepted.some(({ long }) => long === flag));
  const typed = typedOptions(args, command).filter(({ flag }) => isAccepted(flag));
  const isPlanTyped = typed.some(({ flag }) => flag === "--plan");
  const options = typed
    .filter(({ flag }) => !(isPlanTyped && flag in RENAMED))
    .flatMap(({ flag, value }) => [RENAMED[flag] ?? flag, ...(value === undefined ? [] : [value])]);
  return `For a decision: ${["standin", "advise", ...command.args, ...options].map(shellQuote).join(" ")}`;
}

type TypedOption = { readonly flag: string; readonly value: string | undefined };

/** Options as the user typed them, because a parsed value may have no text. */
function typedOptions(args: readonly string[], command: Command): readonly TypedOption[] {
  const found: TypedOption[] = [];
  for (let index = 0; index < args.length; index += 1) {
    const [flag = "", attached] = splitAt(args[index] as string);
    const option = command.options.find(({ long, short }) => long === flag || short === flag);
    if (option === undefined) continue;
    const hasValue = takesValue(option) && attached === undefined;
    found.push({ flag: option.long ?? flag, value: attached ?? (hasValue ? args[index + 1] : undefined) });
    if (hasValue) index += 1;
  }
  return found;
}

function takesValue({ required, optional }: Option): boolean {
  return required || optional;
}

/** `--flag=value` in two. */
function splitAt(arg: string): readonly string[] {
  const at = arg.startsWith("--") ? arg.indexOf("=") : -1;
  return at < 0 ? [arg] : [arg.slice(0, at), arg.slice(at + 1)];
}
