/** An option of data directories and files: worlds of tests have few events, and some of them should be in blocks. */
export const SMALL_BLOCKS = { eventsPerBlock: 7 };
