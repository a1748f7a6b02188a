import type { Labels } from "../../scenario/file/labels.ts";
import type { ProjectDescription } from "../../scenario/file/world-description.ts";
import type { HttpConnection } from "./http-connection.ts";

type WithId = { readonly id: string };
/** Fields of the answers to creations. */
type CreationResponse = {
  readonly project: WithId;
  readonly branch: WithId;
  readonly endpoint: WithId;
  readonly endpoints: readonly [WithId, ...WithId[]];
};

/** Creates the projects of a scenario in a running server. */
export class HttpLayout {
  readonly #connection: HttpConnection;
  readonly #labels: Labels;
  readonly #keyOf: (account: string) => string;
  readonly #finishOperations: () => Promise<void>;

  constructor(
    connection: HttpConnection,
    labels: Labels,
    keyOf: (account: string) => string,
    finishOperations: () => Promise<void>,
  ) {
    this.#connection = connection;
    this.#labels = labels;
    this.#keyOf = keyOf;
    this.#finishOperations = finishOperations;
  }

  async createProject(account: string, { label, branches, ...fields }: ProjectDescription): Promise<void> {
    const [first, ...otherBranches] = Object.entries(branches);
    const [name, description] = first ?? ["main", { computes: {}, protected: undefined }];
    const created = await this.#api(account, "POST", "/projects", {
      project: { ...fields, name: label, branch: { name } },
    });
    const { id } = created.project;
    const path = `/projects/${id}`;
    this.#labels.add({ kind: "project", label, id, account });
    this.#labels.add({ kind: "branch", label: `${label}/${name}`, id: created.branch.id, account });
    await this.#finishOperations();
    const computes = Object.entries(description.computes);
    const primary = computes.find(([, compute]) => compute.type === "read_write");
    const createdEndpointId = created.endpoints[0].id;
    if (primary === undefined) await this.#api(account, "DELETE", `${path}/endpoints/${createdEndpointId}`);
    else {
      const { type: _, ...settings } = primary[1];
      if (Object.keys(settings).length > 0)
        await this.#api(account, "PATCH", `${path}/endpoints/${createdEndpointId}`, { endpoint: settings });
      this.#labels.add({
        kind: "compute",
        label: `${label}/${name}/${primary[0]}`,
        id: createdEndpointId,
        account,
      });
    }
    await this.#finishOperations();
    for (const compute of computes) {
      if (compute !== primary)
        await this.#createCompute(
          account,
          id,
          created.branch.id,
          `${label}/${name}/${compute[0]}`,
          compute[1],
        );
    }
    for (const [branch, { parent, computes: branchComputes, protected: isProtected }] of otherBranches) {
      const parentId = parent === undefined ? undefined : this.#labels.get(`${label}/${parent}`)?.id;
      const child = await this.#api(account, "POST", `${path}/branches`, {
        branch: { name: branch, parent_id: parentId, protected: isProtected },
      });
      this.#labels.add({ kind: "branch", label: `${label}/${branch}`, id: child.branch.id, account });
      await this.#finishOperations();
      for (const [compute, settings] of Object.entries(branchComputes)) {
        await this.#createCompute(account, id, child.branch.id, `${label}/${branch}/${compute}`, settings);
      }
    }
    if (description.protected === true)
      await this.#api(account, "PATCH", `${path}/branches/${created.branch.id}`, {
        branch: { protected: true },
      });
  }

  async #createCompute(
    account: string,
    projectId: string,
    branchId: string,
    label: string,
    compute: object,
  ): Promise<void> {
    const created = await this.#api(account, "POST", `/projects/${projectId}/endpoints`, {
      endpoint: { ...compute, branch_id: branchId },
    });
    this.#labels.add({ kind: "compute", label, id: created.endpoint.id, account });
    await this.#finishOperations();
  }

  async #api(account: string, method: string, path: string, body?: unknown): Promise<CreationResponse> {
    return (await this.#connection.api(this.#keyOf(account), method, path, body)) as CreationResponse;
  }
}
