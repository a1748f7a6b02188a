import type { SimTime } from "../../kernel/time.ts";
import type { Context } from "../../platform/model/context.ts";
import type { Event } from "../../platform/model/events.ts";
import type { World } from "../../platform/world/world.ts";

/** Something that an account shows, as the events that record it in a world. */
export type RecordedFact = {
  readonly at: SimTime;
  /** None if the world lacks what it is about. */
  readonly eventsIn: (world: World, context: Context) => readonly Event[];
};

/** A fact that could not be recorded, and the reason. */
export type PastOmission = { readonly what: string; readonly because: string };

export type OmitPast = (what: string, because: string) => void;
