/** A text as one word of a POSIX shell. */
export function shellQuoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** Quotes `text` for a POSIX shell where needed. */
export function shellWord(text: string): string {
  return /^[\w./@:=-]+$/.test(text) ? text : shellQuoted(text);
}
