import { isMap, isNode, isSeq, LineCounter, type ParsedNode, parseDocument } from "yaml";
import type * as z from "zod";
import { messageOf } from "../../kernel/message-of.ts";
import { closestMatch, findLoneSurrogate } from "../../kernel/text.ts";
import { syntaxProblem } from "./yaml-syntax.ts";

/** A place in a file, and what is wrong there. `line` and `column` count from 1. */
export type Problem = { readonly line: number; readonly column: number; readonly message: string };

const ENDLESS_ALIAS = "the file: an alias contains itself; remove the * that refers to a parent";

type YamlPath = readonly (string | number)[];
/** Bounds the expansion of aliases, which can grow exponentially. */
const MAX_ALIASES = 100;
/** A longer value is shortened in a message. */
const MAX_SHOWN = 60;
const STATES_VALUE = /, not |\bgot /;
const SECRET_FIELD = /key|password|secret|token|sha256|^sql$/i;
/** A name that cannot be taken for a number or for several parts of a path. */
const ITEM_NAME = /^[A-Za-z][\w-]{0,39}$/;

/** A file in YAML (JSON is YAML too) with the position of each value. */
export class SourceDocument {
  /** Plain data; `undefined` when the file cannot be read. */
  readonly value: unknown;
  /** Why the file cannot be read; otherwise empty. */
  readonly problems: readonly Problem[];
  readonly #lines = new LineCounter();
  readonly #document: ReturnType<typeof parseDocument<ParsedNode>>;

  constructor(text: string) {
    this.#document = parseDocument(text, { lineCounter: this.#lines, prettyErrors: false });
    // Only the first one at a position: the parser then reports each bracket that is still open.
    const syntaxErrors = this.#document.errors
      .filter(({ pos }, index, errors) => errors.findIndex((other) => other.pos[0] === pos[0]) === index)
      .map((error) => this.#problem(error.pos[0], syntaxProblem(error)));
    const result = syntaxErrors.length > 0 ? { problems: syntaxErrors } : this.#toPlain();
    this.problems = result.problems;
    this.value = result.value;
  }

  /** A problem at `path`; when nothing is there, at its nearest parent. */
  problemAt(path: YamlPath, message: string): Problem {
    return this.#problem(this.#offsetOf(path), `${this.#nameOf(path) || "the file"}: ${message}`);
  }

  /** The issues that zod found in `checked`, each at its place; an unknown key at that key. */
  problemsOf({ issues }: Pick<z.ZodError, "issues">, checked: unknown = this.value): Problem[] {
    return issues.flatMap((issue) => {
      const path = issue.path.map((part) => (typeof part === "symbol" ? String(part) : part));
      if (issue.code !== "unrecognized_keys")
        return [this.problemAt(path, `${issue.message}${givenAt(checked, path, issue)}`)];
      return issue.keys.map((key) =>
        this.#problem(this.#keyOffset(path, key), `${this.#nameOf([...path, key])}: ${issue.message}`),
      );
    });
  }

  #toPlain(): { readonly value?: unknown; readonly problems: readonly Problem[] } {
    try {
      const value: unknown = this.#document.toJS({ maxAliasCount: MAX_ALIASES });
      if (value === null || value === undefined)
        return { problems: [this.#problem(0, "the file: is empty")] };
      const malformed = findLoneSurrogate(value);
      if (malformed === undefined) return { value, problems: [] };
      return {
        problems: [
          this.#problem(0, `${malformed}: contains half of a surrogate pair, which is not a valid character`),
        ],
      };
    } catch (error) {
      return { problems: [this.#problem(0, error instanceof RangeError ? ENDLESS_ALIAS : messageOf(error))] };
    }
  }

  /** `steps.deploy.request` or `steps.2.request`: an item of a list by its name, else by its number from 1. */
  #nameOf(path: YamlPath): string {
    const names = path.map((part, depth) =>
      typeof part === "string" ? part : (this.#itemName(path.slice(0, depth), part) ?? part + 1),
    );
    return names.join(".");
  }

  /** The name of an item, unless another one of its list has it. */
  #itemName(list: YamlPath, index: number): string | undefined {
    const nameOf = (position: number) => this.#document.getIn([...list, position, "name"]);
    const name = nameOf(index);
    if (typeof name !== "string" || !ITEM_NAME.test(name)) return undefined;
    const items = this.#document.getIn(list, true);
    const count = isSeq(items) ? items.items.filter((_, position) => nameOf(position) === name).length : 0;
    return count === 1 ? name : undefined;
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

/** A slip of the hand rarely changes the first letter. */
function nearestOf(text: string, values: readonly string[]): string | undefined {
  return closestMatch(
    text,
    values.filter((value) => value[0] === text[0]),
  );
}

/** One problem per line, in the form `file:line:column` that editors and terminals link. */
export function formatProblems(fileName: string, problems: readonly Problem[]): string {
  return problems.map(({ line, column, message }) => `${fileName}:${line}:${column}: ${message}`).join("\n");
}

/** The value that breaks a rule, after a message that does not state it, and the allowed one that is nearest. */
function givenAt(checked: unknown, path: YamlPath, issue: z.ZodError["issues"][number]): string {
  const value = path.length === 0 ? undefined : valueAt(checked, path);
  const isScalar = typeof value === "string" || typeof value === "number" || typeof value === "boolean";
  if (!isScalar || !issue.message.startsWith("must ") || STATES_VALUE.test(issue.message)) return "";
  // A file may have an API key or a password, and its errors are printed in logs.
  if (SECRET_FIELD.test(String(path.at(-1)))) return "";
  const text = String(value);
  const shown = text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text;
  const near = issue.code === "invalid_value" ? nearestOf(text, issue.values.map(String)) : undefined;
  const suggestion = near === undefined || typeof value !== "string" ? "" : `; did you mean ${near}?`;
  return `, got ${typeof value === "string" ? `"${shown}"` : shown}${suggestion}`;
}

function valueAt(value: unknown, path: YamlPath): unknown {
  const [part, ...rest] = path;
  if (part === undefined || typeof value !== "object" || value === null)
    return part === undefined ? value : undefined;
  return valueAt((value as Record<string, unknown>)[part], rest);
}
