/** Levels of arrays and objects in a request body. Code that walks the value may recurse this deeply. */
// @ts-nocheck

export const MAX_JSON_DEPTH = 64;

/** Whether JSON text is nested more deeply than `MAX_JSON_DEPTH`. Reads the text once, without recursion. */
export function isNestedTooDeeply(text: string): boolean {
  let depth = 0;
  let isInString = false;
  for (let index = 0; index < text.length; index += 1) {
    const character = text[index];
    if (isInString) {
      if (character === "\\") index += 1;
      else if (character === '"') isInString = false;
    } else if (character === '"') {
      isInString = true;
    } else if (character === "[" || character === "{") {
      depth += 1;
      if (depth > MAX_JSON_DEPTH) return true;
    } else if (character === "]" || character === "}") {
      depth -= 1;
    }
  }
  return false;
}
