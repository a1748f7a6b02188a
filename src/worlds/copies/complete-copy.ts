import type { Result } from "../../platform/catalog/refusal-codes.ts";
import { type DivergenceOptions, divergeCopy } from "../../store/file/diverge-copy.ts";
import { openStore } from "../../store/file/open-world.ts";
import { reseed } from "../reseed.ts";

/** What a copy of a world's file needs to become a world of its own. Plain data, which can be sent to a thread. */
export type CopyCompletion = {
  readonly path: string;
  readonly migrationsFolder: string;
  readonly divergence: DivergenceOptions;
  /** The seed for later draws; absent: the seed of the origin. */
  readonly seed?: number | undefined;
  /** Opens the copy, which checks it. */
  readonly isVerified?: boolean | undefined;
};

/** Completes a copy that is not open. If this fails or is refused, the copy must be discarded. */
export async function completeCopy({
  path,
  migrationsFolder,
  divergence,
  seed,
  isVerified = false,
}: CopyCompletion): Promise<Result<undefined>> {
  const diverged = await divergeCopy(path, { migrationsFolder }, divergence);
  if (!diverged.ok || (seed === undefined && !isVerified)) return diverged;
  const store = openStore(path, { migrationsFolder });
  try {
    if (seed !== undefined) reseed(store, seed);
  } finally {
    store.close();
  }
  return diverged;
}
