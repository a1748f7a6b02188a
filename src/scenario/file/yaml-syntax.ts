import type { YAMLError } from "yaml";

const MIXED = "a value that contains a colon must be in quotation marks, and each key in a line of its own";

/** Replaces the parser's messages, which require knowledge of its grammar. Some depend on the missing character. */
const TEXTS: Readonly<Record<YAMLError["code"], string>> = {
  ALIAS_PROPS: "an alias (*) cannot have a tag or an anchor (&)",
  BAD_ALIAS: "an alias (*) needs the name of an anchor (&) before it, and an anchor needs a name",
  BAD_COLLECTION_TYPE: "the tag does not fit its value; remove the tag",
  BAD_DIRECTIVE: "a line that begins with % is not allowed here",
  BAD_DQ_ESCAPE: "this escape sequence is not known; write \\\\ for a backslash in quotation marks",
  BAD_INDENT: "the indentation differs from that of the lines above",
  BAD_PROP_ORDER: "a tag or an anchor (&) must directly precede its value",
  BAD_SCALAR_START: "a value cannot begin with this character; put it in quotation marks",
  BLOCK_AS_IMPLICIT_KEY: MIXED,
  BLOCK_IN_FLOW: "a list or an object inside brackets must be in brackets, too",
  DUPLICATE_KEY: "this key occurs twice in one object",
  IMPOSSIBLE: "expected a key or a value",
  KEY_OVER_1024_CHARS: "a key must not be longer than 1,024 characters",
  MISSING_CHAR: "expected a key and a value, such as name: shop",
  MULTILINE_IMPLICIT_KEY: MIXED,
  MULTIPLE_ANCHORS: "a value can have only one anchor (&)",
  MULTIPLE_DOCS: "a second document begins here; a file contains one",
  MULTIPLE_TAGS: "a value can have only one tag",
  NON_STRING_KEY: "a key must be a string",
  RESOURCE_EXHAUSTION: "the value is nested too deeply",
  TAB_AS_INDENT: "expected spaces as indentation, got a tab",
  TAG_RESOLVE_FAILED: "this tag is not known; remove it",
  UNEXPECTED_TOKEN: "expected a key or a value",
};

/** Describes an error in the syntax of a file, and how to correct it. */
export function syntaxProblem({ code, message }: Pick<YAMLError, "code" | "message">): string {
  const [, closing] = /end with a ([}\]])/.exec(message) ?? [];
  if (closing !== undefined)
    return `expected ${closing}, which ends ${closing === "}" ? "an object" : "a list"}; indent what is in it`;
  if (code !== "MISSING_CHAR") return TEXTS[code] ?? TEXTS.UNEXPECTED_TOKEN;
  if (message.startsWith("Missing , ")) return "expected a comma between two items";
  if (message.startsWith("Missing space")) return "expected a space after the colon";
  if (message.startsWith("Missing closing")) return "expected a closing quotation mark";
  if (message.startsWith("Sequence item")) return "expected a hyphen before this item of a list";
  if (message.startsWith("Comments")) return "expected a space before #, which begins a comment";
  return TEXTS.MISSING_CHAR;
}
