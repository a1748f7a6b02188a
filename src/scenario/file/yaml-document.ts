import { isMap, isNode, LineCounter, type ParsedNode, parseDocument } from "yaml";
import type * as z from "zod";
import { findLoneSurrogate } from "../../platform/core/text.ts";

/** Where in a file something is wrong, and what would be right. */
export type Problem = { readonly line: number; readonly column: number; readonly message: string };

type YamlPath = readonly (string | number)[];
/** More aliases than this multiply without end and are no scenario. */
const MAX_ALIASES = 100;

/** A file in YAML (or JSON, which is YAML) that remembers where in it everything stands. */
export class SourceDocument {
  /** What it says, as plain data; `undefined` where it cannot be read. */
  readonly value: unknown;
  /** Why it cannot be read; empty where it can. */
  readonly problems: readonly Problem[];
  readonly #lines = new LineCounter();
  readonly #document: ReturnType<typeof parseDocument<ParsedNode>>;

  constructor(text: string) {
    this.#document = parseDocument(text, { lineCounter: this.#lines, prettyErrors: false });
    const syntaxErrors = this.#document.errors.map(({ pos, message }) => this.#problem(pos[0], message));
    const result = syntaxErrors.length > 0 ? { problems: syntaxErrors } : this.#toPlain();
    this.problems = result.problems;
    this.value = result.value;
  }

  /** The problem of what stands at `path`; of what is missing there, the place that it is missing in. */
  problemAt(path: YamlPath, message: string): Problem {
    return this.#problem(this.#offsetOf(path), `${path.join(".") || "the file"}: ${message}`);
  }

  /** What zod found, each at its place; a key that nobody knows at that key. */
  problemsOf({ issues }: Pick<z.ZodError, "issues">): Problem[] {
    return issues.flatMap((issue) => {
      const path = issue.path.map((part) => (typeof part === "symbol" ? String(part) : part));
      if (issue.code !== "unrecognized_keys") return [this.problemAt(path, issue.message)];
      return issue.keys.map((key) =>
        this.#problem(this.#keyOffset(path, key), `${[...path, key].join(".")}: ${issue.message}`),
      );
    });
  }

  #toPlain(): { readonly value?: unknown; readonly problems: readonly Problem[] } {
    try {
      const value: unknown = this.#document.toJS({ maxAliasCount: MAX_ALIASES });
      const malformed = findLoneSurrogate(value);
      if (malformed === undefined) return { value, problems: [] };
      return {
        problems: [this.#problem(0, `${malformed}: has half of a surrogate pair, which is no character`)],
      };
    } catch (error) {
      return { problems: [this.#problem(0, error instanceof Error ? error.message : String(error))] };
    }
  }

  #problem(offset: number, message: string): Problem {
    const { line, col } = this.#lines.linePos(offset);
    return { line, column: col, message };
  }

  #offsetOf(path: YamlPath): number {
    for (let length = path.length; length > 0; length -= 1) {
      const node = this.#document.getIn(path.slice(0, length), true);
      if (isNode(node) && node.range) return node.range[0];
    }
    return this.#document.contents?.range?.[0] ?? 0;
  }

  #keyOffset(path: YamlPath, key: string): number {
    const map = path.length === 0 ? this.#document.contents : this.#document.getIn(path, true);
    const pair = isMap(map)
      ? map.items.find((item) => isNode(item.key) && String(item.key) === key)
      : undefined;
    return isNode(pair?.key) && pair.key.range ? pair.key.range[0] : this.#offsetOf(path);
  }
}

/** One problem a line, as editors and terminals understand it. */
export function formatProblems(fileName: string, problems: readonly Problem[]): string {
  return problems.map(({ line, column, message }) => `${fileName}:${line}:${column}: ${message}`).join("\n");
}
