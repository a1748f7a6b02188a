import type { Result } from "../../platform/catalog/refusal-codes.ts";

/** `file`, `log` (the write-ahead log), or `snapshot:<name>`. */
export type PartName = string;
export const LOG_PART = "log";
export const SNAPSHOT_PART = "snapshot:";

/** Size and checksum of a sent part, with which the receiver checks it. */
export type PartSum = {
  readonly name: PartName;
  readonly bytes: number;
  readonly sha256: string;
  /** When a snapshot was taken: the time of its file, in milliseconds since 1970. */
  readonly takenAt?: number | undefined;
};

/** A password as text, because each data directory encrypts passwords with its own key. */
export type MovedSecret = { readonly id: string; readonly value: string };

/** Data sent while the world is still in service: the complete parts, and all secrets. */
export type PreparedWorld = { readonly parts: readonly PartSum[]; readonly secrets: readonly MovedSecret[] };

/** The end of a world's history, and data that its file does not contain. */
export type MovedWorld = {
  readonly historyId: string;
  readonly seq: number;
  readonly parts: readonly PartSum[];
  /** Secrets that have changed since the preparation; all if there was none. */
  readonly secrets: readonly MovedSecret[];
};

/** The world that a move is about, as the destination identifies it. */
export type MovingWorld = Pick<MovedWorld, "historyId"> & { readonly sizeBytes: number };

/** Another server, as the destination of one world. Each method rejects if the server refuses or cannot be reached. */
export interface MoveDestination {
  /** URL of the server, without a path. */
  readonly url: string;
  begin(world: MovingWorld): Promise<void>;
  write(part: PartName, offset: number, bytes: Uint8Array): Promise<void>;
  /**
   * Makes the destination check and read the arrived data while the world is in service here, so `complete` is short.
   */
  prepare(world: PreparedWorld): Promise<void>;
  /** When this resolves, the world is durable and in service at the destination. */
  complete(world: MovedWorld): Promise<void>;
  /** Ends an incomplete move at the destination. Returns whether the destination has the world with this history. */
  settle(historyId: string): Promise<boolean>;
}

/** How far a move is, in bytes of the files. */
export type MoveProgress = { readonly to: string; readonly sentBytes: number; readonly totalBytes: number };

/** A world that was moved: where it is now. */
export type Moved = { readonly to: string; readonly seq: number };

/** Receives worlds from other servers. */
export interface WorldArrivals {
  /** Begins to receive a world. Returns the id that the other calls name. */
  begin(world: string, moving: MovingWorld): Promise<Result<string>>;
  write(world: string, id: string, part: PartName, offset: number, bytes: Uint8Array): Promise<Result<true>>;
  /** See `MoveDestination`. Returns the last event that has arrived; `undefined` if `complete` will read all. */
  prepare(world: string, id: string, prepared: PreparedWorld): Promise<Result<number | undefined>>;
  complete(world: string, id: string, moved: MovedWorld): Promise<Result<true>>;
  /** See `MoveDestination`. */
  settle(world: string, historyId: string): Promise<Result<boolean>>;
}

/** Moves worlds between servers. */
export interface WorldMoves {
  /** Progress of the move of this world to another server; `undefined` without one. */
  progress(world: string): MoveProgress | undefined;
  /**
   * Moves a world to another server while it stays in service; only the end of its log is sent while it is closed.
   * If that fails, it is served here as before. Finishes a move that was interrupted at its end.
   */
  move(world: string, destination: MoveDestination, signal: AbortSignal): Promise<Result<Moved>>;
  /** Serves a world here again although it is unknown whether its destination has it, or forgets where it is. */
  forget(world: string): Promise<Result<true>>;
  readonly arrivals: WorldArrivals;
}
