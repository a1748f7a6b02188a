/** Whether browsers get the console, and whether it offers changes. */
// @ts-nocheck

export const CONSOLE_MODES = ["on", "read-only", "off"] as const;
export type ConsoleMode = (typeof CONSOLE_MODES)[number];
