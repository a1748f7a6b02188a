/** The control API of one server. */
export type ControlApi = {
  /** Calls `path`, relative to /_sim; rejects with a `UserError` when the server answers with an error. */
  call<T>(method: string, path: string, body?: unknown): Promise<T>;
};
