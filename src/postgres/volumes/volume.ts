import type { Marks } from "./marks.ts";

/** A cluster that never changes. */
export type VolumeBase = {
  /** Absolute. */
  readonly path: string;
  /** The earliest position that it can be replayed to; absent if that is its end. */
  readonly lsn?: string;
};

/** The data of one branch on disk: bases that never change, the log since them, and the current state. */
export type Volume = {
  /** `<history id>/<name>`. Never used again, also after the volume is deleted. */
  readonly id: string;
  /** The current state, which Postgres works on. */
  readonly dataDirectory: string;
  /** Completed segments of the log since the base, also of the time before the volume was created. */
  readonly logDirectory: string;
  /** The clusters that the log begins with, oldest first. There may be gaps before all but the last one. */
  readonly bases: readonly VolumeBase[];
  /** The position at which the volume began to differ from others; absent if that is the position of its base. */
  readonly origin: string | undefined;
  readonly marks: Marks;
  /** An engine has been started on it, and its last mark may be older than its current state. */
  isOpen(): boolean;
  setOpen(isOpen: boolean): void;
};

/** Parts that `create` fills in. */
export type NewVolume = Pick<Volume, "dataDirectory" | "logDirectory">;
export type VolumeOrigin = {
  readonly bases: readonly VolumeBase[];
  readonly origin?: string | undefined;
};

/** Data to which no world refers. */
export type Scratch = {
  readonly dataDirectory: string;
  /** No process uses it any more. */
  readonly remove: () => Promise<void>;
};
