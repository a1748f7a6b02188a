/**
 * How a block of a page is tested. A comment above the block says so, if its language does not:
 *
 * - `<!-- not run: reason -->`
 * - `<!-- file: name -->`: the block is the content of a file.
 * - `<!-- output -->`: the commands of the block before it print this.
 * - `<!-- server -->`: its last command runs until the page ends.
 * - `<!-- status: 1 -->`: its last command exits with this status.
 *
 * Comments `<!-- before: command -->` and `<!-- after: command -->` run a command that the page does not show.
 */
export type PageBlock =
  | { readonly kind: "commands"; readonly line: number; readonly commands: readonly PageCommand[] }
  | { readonly kind: "file"; readonly line: number; readonly name: string; readonly text: string }
  | { readonly kind: "output"; readonly line: number; readonly text: string }
  | { readonly kind: "left out"; readonly line: number; readonly reason: string };

export type PageCommand = {
  readonly line: number;
  readonly text: string;
  /** Expected output, if the page shows it. `…` is any text; on a line of its own, any lines. */
  readonly printed?: string;
  readonly isServer: boolean;
  readonly status: number;
};

type Mark = { readonly name: string; readonly value: string };

/** The blocks of a page in their order. Throws if a block has neither commands nor a comment. */
export function blocksOf(page: string): readonly PageBlock[] {
  const lines = page.split("\n");
  const blocks: PageBlock[] = [];
  let marks: Mark[] = [];
  for (let index = 0; index < lines.length; index += 1) {
    const line = lines[index] ?? "";
    const mark = markAt(lines, index);
    const [, indent = "", language] = /^(\s*)```(\w*)$/.exec(line) ?? [];
    if (mark !== undefined) {
      marks.push(mark);
      index = mark.end;
    } else if (language !== undefined) {
      const end = lines.indexOf(`${indent}\`\`\``, index + 1);
      const text = lines.slice(index + 1, end).map((inside) => `${inside.slice(indent.length)}\n`);
      blocks.push(
        ...hiddenCommands("before", marks, index),
        blockOf(language, text, marks, index + 1),
        ...hiddenCommands("after", marks, index),
      );
      marks = [];
      index = end;
    }
  }
  return blocks;
}

function markAt(lines: readonly string[], start: number): (Mark & { readonly end: number }) | undefined {
  const [, name, first = ""] =
    /^\s*<!-- (not run|file|output|server|status|before|after)(?::(.*))?/.exec(lines[start] ?? "") ?? [];
  if (name === undefined) return undefined;
  let end = start;
  let text = first === "" ? (lines[start] ?? "").replace(/^.*?<!-- \w+:?/, "") : first;
  while (!text.includes("-->") && end < lines.length) {
    end += 1;
    text += `\n${lines[end]}`;
  }
  return { name, value: text.slice(0, text.indexOf("-->")).trim(), end };
}

function hiddenCommands(place: "before" | "after", marks: readonly Mark[], line: number): PageBlock[] {
  return marks
    .filter(({ name }) => name === place)
    .map(({ value }) => ({
      kind: "commands",
      line,
      commands: [{ line, text: value.replace(/ &$/, ""), isServer: value.endsWith(" &"), status: 0 }],
    }));
}

function blockOf(
  language: string,
  lines: readonly string[],
  marks: readonly Mark[],
  line: number,
): PageBlock {
  const markOf = (name: string) => marks.find((mark) => mark.name === name)?.value;
  const reason = markOf("not run");
  if (reason !== undefined) return { kind: "left out", line, reason };
  const name = markOf("file");
  if (name !== undefined) return { kind: "file", line, name, text: lines.join("") };
  if (markOf("output") !== undefined) return { kind: "output", line, text: lines.join("") };
  const commands =
    language === "console" ? shownCommands(lines, line) : language === "sh" ? script(lines, line) : [];
  if (commands.length === 0)
    throw new Error(`line ${line}: a block "${language}" needs a comment that says how it is tested`);
  const last = commands.length - 1;
  return {
    kind: "commands",
    line,
    commands: commands.map((command, index) =>
      index === last
        ? { ...command, isServer: markOf("server") !== undefined, status: Number(markOf("status") ?? 0) }
        : command,
    ),
  };
}

/** A block `sh` is one script. */
function script(lines: readonly string[], line: number): PageCommand[] {
  return [{ line: line + 1, text: lines.join("").trimEnd(), isServer: false, status: 0 }];
}

/** A block `console` has lines that begin with `$ `, each with what the command prints. */
function shownCommands(lines: readonly string[], line: number): PageCommand[] {
  const starts = lines.flatMap((text, index) => (text.startsWith("$ ") ? [index] : []));
  return starts.map((start, position) => {
    const printed = lines.slice(start + 1, starts[position + 1]).join("");
    return {
      line: line + start + 1,
      text: (lines[start] ?? "").slice(2).trimEnd(),
      printed,
      isServer: false,
      status: 0,
    };
  });
}

/** Whether a command has printed what the page shows. */
export function isPrinted(shown: string, actual: string): boolean {
  return new RegExp(`^${patternOf(shown)}$`).test(withLastNewline(actual));
}

/** Whether the page shows a part of what a command has printed. */
export function isPartPrinted(shown: string, actual: string): boolean {
  return new RegExp(`(^|\n)${patternOf(shown)}`).test(withLastNewline(actual));
}

function withLastNewline(text: string): string {
  return text.trim() === "" ? "" : `${text.trimEnd()}\n`;
}

function patternOf(shown: string): string {
  return withLastNewline(shown)
    .split("\n")
    .slice(0, -1)
    .map((line) => (line.trim() === "…" ? "(?:[^\n]*\n)*?" : `${linePattern(line.trimEnd())} *\n`))
    .join("");
}

function linePattern(line: string): string {
  return line
    .split("…")
    .map((text) => text.replaceAll(/[$()*+.?[\\\]^{|}]/g, "\\$&"))
    .join("[^\n]*");
}
