import { pathOf, type Scene, type SceneApi, UNKNOWN_IDS } from "../document/contract-scene.ts";
import { EXAMPLES, type Example } from "../document/operation-examples.ts";
import { loadPublicDocument } from "../document/public-document.ts";
import type { CheckedApi } from "./checked-api.ts";
import { KnownIds } from "./known-ids.ts";

type Draw = (below: number) => number;

/** Operations whose bodies are bytes or forms with files. */
const NOT_JSON: readonly string[] = ["getProjectBranchBucketObject", "createProjectBranchFunctionDeployment"];
const CALLS = loadPublicDocument()
  .operations.filter(({ operationId }) => !NOT_JSON.includes(operationId))
  .flatMap((operation) => (EXAMPLES[operation.operationId] ?? []).map((example) => ({ operation, example })));
const MAX_PROJECTS = 400;

/**
 * Calls of any operation of the document in one project, each with one of its examples and with ids that earlier
 * answers had. A call may be refused: objects are gone, in use or locked. Only server errors and deviations from
 * the document are findings.
 */
export class RandomCalls {
  readonly #api: CheckedApi;
  readonly #draw: Draw;
  readonly #ids: KnownIds;

  private constructor(api: CheckedApi, draw: Draw, projectId: string) {
    this.#api = api;
    this.#draw = draw;
    this.#ids = new KnownIds(draw);
    this.#ids.add("project_id", projectId);
  }

  static async create(api: CheckedApi, draw: Draw): Promise<RandomCalls> {
    const created = await api.call("POST", "/projects", { project: { name: "random calls" } });
    await api.waitForOperations(created.project.id);
    const calls = new RandomCalls(api, draw, created.project.id);
    calls.#ids.learn(created);
    calls.#ids.learn(await api.call("GET", "/users/me/organizations"));
    return calls;
  }

  /** Returns the id of the operation that was called. */
  async act(): Promise<string> {
    const { operation, example } = CALLS[this.#draw(CALLS.length)] as (typeof CALLS)[number];
    const scene = this.#scene();
    const ids = { ...scene.ids, ...example.ids?.(scene) };
    const { body } = await this.#api.answer(
      operation.method,
      pathOf(operation, ids, example.query?.(scene)),
      bodyOf(example, scene),
    );
    this.#ids.learn(body);
    if (operation.operationId === "createApiKey" && "id" in Object(body))
      this.#ids.add("key_id", String(body.id));
    return operation.operationId;
  }

  /** Deletes all projects of the account, also those that calls have created. */
  async finish(): Promise<void> {
    const { projects } = await this.#api.call("GET", `/projects?limit=${MAX_PROJECTS}`);
    for (const { id } of projects) {
      await this.#api.waitForOperations(id);
      const { branches } = await this.#api.call("GET", `/projects/${id}/branches`);
      for (const branch of branches.filter((row: { protected: boolean }) => row.protected))
        await this.#api.call("PATCH", `/projects/${id}/branches/${branch.id}`, {
          branch: { protected: false },
        });
      await this.#api.call("DELETE", `/projects/${id}`);
    }
  }

  /** Values of a scene that examples read. Nothing of another account is known here. */
  #scene(): Scene<SceneApi> {
    const ids = this.#ids.all();
    return {
      double: { api: () => unused(), sim: () => unused(), advance: () => unused() },
      ids,
      childId: this.#ids.one("branch_id"),
      restoredId: this.#ids.one("branch_id"),
      anonymizedId: this.#ids.one("branch_id"),
      replicaId: this.#ids.one("endpoint_id"),
      spareKey: "",
      revokedKey: "",
      partnerId: ids.org_id,
      organizationKey: { id: UNKNOWN_IDS.key_id, secret: "" },
      others: { ids: UNKNOWN_IDS, key: "" },
    };
  }
}

function unused(): never {
  throw new Error("examples prepare nothing here");
}

function bodyOf({ body }: Example, scene: Scene<SceneApi>): unknown {
  return body?.(scene);
}
