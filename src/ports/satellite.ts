/** What the module of every satellite exports. */
export type Satellite = {
  /** The version of its package, which is that of the core that it fits. */
  readonly VERSION: string;
};
