import { isoInstant } from "../../kernel/calendar.ts";
import type { SimTime } from "../../kernel/time.ts";
import { WORLD_NAME, WORLD_NAME_RULE } from "../../worlds/world-handle.ts";
import { invalidValue } from "../terminal/usage-errors.ts";

/** `shop` at an instant is `shop-20260105t090000z`. */
export function worldNameAt(world: string, at: SimTime): string {
  return `${world}-${isoInstant(at).slice(0, 19).replaceAll(/[-:]/g, "").toLowerCase()}z`;
}

/** The begin of the names of worlds, to which instants are added. */
export function parseWorldNameStart(text: string): string {
  if (!WORLD_NAME.test(text)) throw invalidValue(WORLD_NAME_RULE);
  const tooMuch = worldNameAt(text, 0).length - LONGEST_NAME;
  if (tooMuch <= 0) return text;
  throw invalidValue(`a name of at most ${text.length - tooMuch} characters, to which an instant is added`);
}

/** As `WORLD_NAME` has it. */
const LONGEST_NAME = 63;
