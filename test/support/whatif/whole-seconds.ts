import { LoadReadingTimes } from "../../../src/platform/model/load-reading-times.ts";
import type { LoadReadingsSource } from "../../../src/whatif/sizes/load-readings-source.ts";

/** Loads are read at every whole 5 s since a start, so that sizes can be followed by hand. */
export const WHOLE_SECONDS: LoadReadingsSource = {
  from: (readyAt) => new LoadReadingTimes(readyAt, undefined),
};
