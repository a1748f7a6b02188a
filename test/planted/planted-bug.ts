/** The part of the server that has the bug. `volumes` is everything about the durability of data. */
export const AREAS = ["gateway", "engine", "volumes", "control", "rules"] as const;

/** A mistake that somebody could make, and the tests that must notice it. */
export type PlantedBug = {
  readonly id: string;
  readonly area: (typeof AREAS)[number];
  /** The file with the bug, from the root of the repository. */
  readonly file: string;
  /** The right code, which the file has exactly once. */
  readonly search: string;
  /** The wrong code. */
  readonly replacement: string;
  /** What somebody can do, or what is lost, because of it. */
  readonly breaks: string;
  /** The file of the tests that find it. */
  readonly test: string;
  /** Part of the titles of these tests; absent: all of the file. */
  readonly titles?: string;
};
