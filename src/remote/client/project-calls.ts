import type { ProjectChanges } from "../../ports/mirror.ts";
import {
  apiErrorOf,
  type ControlApi,
  isSuccess,
  type PublicResponse,
  type ServerApi,
} from "../../ports/server-api.ts";
import { UserError } from "../../ports/user-error.ts";

/** Two minutes; operations of a change finish long before. */
const MAX_POLLS = 2_400;
const POLL_MS = 50;
const OPERATIONS_PER_PAGE = 100;
const UNFINISHED_STATUSES = new Set(["scheduling", "running"]);

/** Changes in the projects of a server, each after the operations of the one before it. */
export class ProjectCalls implements ProjectChanges {
  readonly #api: ServerApi;
  readonly #control: ControlApi | undefined;

  /** Without a control API, the clock of the server is the wall clock. */
  constructor(api: ServerApi, control?: ControlApi) {
    this.#api = api;
    this.#control = control;
  }

  /** One change in a project. Waits for the operations before and after it. */
  async change(project: string, method: string, path: string, body?: unknown): Promise<PublicResponse> {
    let response = await this.send(method, path, body);
    for (let polls = 0; response.status === 423 && polls < MAX_POLLS; polls += 1) {
      await this.waitForOperations(project);
      response = await this.send(method, path, body);
    }
    if (isSuccess(response)) await this.waitForOperations(project);
    return response;
  }

  /**
   * Returns rejections as answers. Rejects if the whole run cannot succeed: no access, rate limit or server
   * error.
   */
  async send(method: string, path: string, body?: unknown): Promise<PublicResponse> {
    const response = await this.#api.call(method, path, body);
    if (
      response.status !== 401 &&
      response.status !== 429 &&
      (response.status < 500 || response.status === 501)
    )
      return response;
    throw new UserError(
      `${method} ${this.#api.url}${path}: ${response.status} ${apiErrorOf(response).message ?? ""}`.trimEnd(),
    );
  }

  /** Waits for the operations of a project. Advances a manual clock itself. */
  async waitForOperations(path: string): Promise<void> {
    for (let polls = 0; polls < MAX_POLLS; polls += 1) {
      const response = await this.send("GET", `${path}/operations?limit=${OPERATIONS_PER_PAGE}`);
      const { operations = [] } = (response.body ?? {}) as { operations?: { status: string }[] };
      if (!operations.some(({ status }) => UNFINISHED_STATUSES.has(status))) return;
      const clock = await this.#control?.call<{ mode: string }>("GET", "/clock");
      if (clock?.mode === "manual") await this.#control?.call("POST", "/clock/advance", { next: true });
      else await this.#api.pause(POLL_MS);
    }
    throw new UserError(`${this.#api.url}${path}: operations did not finish after ${MAX_POLLS} polls`);
  }
}
