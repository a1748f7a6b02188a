import type { SimTime } from "../../kernel/time.ts";

/** Fields of every event: when it happened, on the world's clock. */
export type EventBase = { readonly at: SimTime };
