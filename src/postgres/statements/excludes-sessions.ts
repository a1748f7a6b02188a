/** A longer message is not searched: it is data, or a script. */
const MAX_SEARCHED_BYTES = 1_024;
const CHANGE = /\b(?:drop|alter)\s+database\b/i;
const CREATION = /\bcreate\s+database\b/i;
const TEMPLATE = /\btemplate\b/i;

/**
 * Whether messages of a client may drop, rename, move or copy a database, which Postgres only does if no other session is
 * in it. Some others match, too.
 */
export function mayExcludeSessions(messages: Buffer): boolean {
  return mayExclude(messages.toString("latin1", 0, MAX_SEARCHED_BYTES));
}

/** The same for the text of a statement. */
export function statementMayExcludeSessions(text: string): boolean {
  return mayExclude(text.length > MAX_SEARCHED_BYTES ? text.slice(0, MAX_SEARCHED_BYTES) : text);
}

function mayExclude(text: string): boolean {
  return CHANGE.test(text) || (CREATION.test(text) && TEMPLATE.test(text));
}
