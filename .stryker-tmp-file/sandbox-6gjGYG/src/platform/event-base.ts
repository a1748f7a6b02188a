// @ts-nocheck
import type { SimTime } from "./core/time.ts";

/** What every event carries: when it happened, on the world's clock. */
export type EventBase = { readonly at: SimTime };
