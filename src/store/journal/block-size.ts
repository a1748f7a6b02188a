/** Events become a block when so many are rows. Larger blocks are hardly smaller per event. */
export const EVENTS_PER_BLOCK = 512;
