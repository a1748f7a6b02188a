/** The password of a role, an API key, the value of an Authorization header. */
// @ts-nocheck

const SECRET_TEXT = /(?:npg|napi)_\w|\b[A-Za-z0-9]{64}\b|\bbearer\s+\S/i;
const SPACE = /\s/;

/** Whether any text contains a secret, in time proportional to its length. */
export function containsSecret(text: string): boolean {
  return SECRET_TEXT.test(text) || containsUriPassword(text);
}

/**
 * Whether the text contains a URI with a password: `://`, a name without spaces, `/` or `@`, then `:`, a
 * password without spaces or `@`, and `@`. A regular expression for this takes quadratic time.
 */
function containsUriPassword(text: string): boolean {
  let index = text.indexOf("://");
  if (index < 0) return false;
  let isInName = false;
  let isInPassword = false;
  for (; index < text.length; index += 1) {
    const character = text[index] as string;
    if (character === "@") {
      if (isInPassword) return true;
      isInName = false;
    } else if (character === "/") {
      isInName = text[index - 1] === "/" && text[index - 2] === ":";
    } else if (character === ":") {
      isInPassword ||= isInName;
    } else if ((character <= " " || character > "~") && SPACE.test(character)) {
      isInName = false;
      isInPassword = false;
    }
  }
  return false;
}
