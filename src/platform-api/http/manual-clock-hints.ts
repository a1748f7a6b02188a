/** How a user of a manual clock must advance it before a retry can succeed, by status. */
export const MANUAL_CLOCK_HINTS: Readonly<
  Record<number, { readonly header: string; readonly text: string }>
> = {
  423: {
    header: 'advance {"next":true}',
    text: "the clock is manual: run standin clock advance --next, or start the server with --settle",
  },
  429: { header: 'advance {"by":"1s"}', text: "the clock is manual: run standin clock advance 1s" },
};
