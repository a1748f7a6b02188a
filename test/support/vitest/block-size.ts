/** In place of the size in `src/store/journal/block-size.ts`, so that worlds of tests have blocks and rows. */
export const EVENTS_PER_BLOCK = 7;
