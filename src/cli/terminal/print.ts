import { escapeControls } from "../../kernel/text.ts";

/** The colors and weights of our own output. */
const ESCAPE = "\u001b";
const STYLE = new RegExp(`(${ESCAPE}\\[(?:0|1|2|22|3[1-6]|39)m)`);

/** Writes to stdout. Names in the text can be chosen by any client, so control characters are escaped. */
export function print(text: string): void {
  process.stdout.write(printable(text));
}

/** Prints the result of a command: a text, or with `--json` the result itself on one line. */
export function printResult({ json }: { readonly json?: boolean }, result: unknown, text: string): void {
  print(`${json === true ? JSON.stringify(result) : text}\n`);
}

/** Writes to stderr, likewise. */
export function printError(text: string): void {
  process.stderr.write(printable(text));
}

/** The text with control characters escaped, but for line ends and our own styles. Every second part is a style. */
export function printable(text: string): string {
  return text
    .split(STYLE)
    .map((part, index) => (index % 2 === 1 ? part : escapeControls(part)))
    .join("");
}
