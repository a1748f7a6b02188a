import type { SimTime } from "../../kernel/time.ts";

/** What every event carries: when it happened, on the world's clock. */
export type EventBase = { readonly at: SimTime };
