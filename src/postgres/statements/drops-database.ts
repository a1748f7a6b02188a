/** A longer message is not searched: it is data, or a script. */
const MAX_SEARCHED_BYTES = 1_024;
const DROP = /\bdrop\s+database\b/i;

/** Whether messages of a client may drop a database. Some others match, too. */
export function mayDropDatabase(messages: Buffer): boolean {
  return DROP.test(messages.toString("latin1", 0, MAX_SEARCHED_BYTES));
}
