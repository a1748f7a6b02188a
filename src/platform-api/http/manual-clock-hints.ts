/**
 * How a user of a manual clock must advance it before a retry can succeed, by status. It is a header, because
 * programs compare messages.
 */
export const MANUAL_CLOCK_HINTS: Readonly<Record<number, string>> = {
  423: 'advance {"next":true}',
  429: 'advance {"by":"1s"}',
};
