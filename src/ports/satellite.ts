/** Exports of the module of every satellite. */
export type Satellite = {
  /** The version of its package, which equals the version of the core that it fits. */
  readonly VERSION: string;
};
