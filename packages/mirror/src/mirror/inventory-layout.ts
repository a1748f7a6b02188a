import type { ProjectChanges } from "@standin/standin/ports/mirror";
import {
  apiErrorOf,
  isSuccess,
  type PublicResponse,
  type ServerApi,
} from "@standin/standin/ports/server-api";
import {
  type BranchCopy,
  type EndpointCopy,
  isDefault,
  isSchemaOnly,
  type Omission,
  type ProjectCopy,
} from "./inventory.ts";
import {
  branchParts,
  contains,
  deepMerge,
  endpointParts,
  type JsonFields,
  projectParts,
  type RequestPart,
} from "./inventory-parts.ts";

/** Creates projects in a running server through its public API. The server generates new ids. */
export class InventoryWriter {
  readonly omissions: Omission[] = [];
  /** New ids in the server, by original id. */
  readonly ids: Record<string, string> = {};
  readonly #api: ServerApi;
  readonly #calls: ProjectChanges;

  /** `calls` makes the changes by `api`. */
  constructor(api: ServerApi, calls: ProjectChanges) {
    this.#api = api;
    this.#calls = calls;
  }

  /**
   * Creates a project with its content and waits for its operations. Omits what the server rejects. Returns
   * whether the project was created.
   */
  async writeProject(project: ProjectCopy): Promise<boolean> {
    const what = `project ${project.name} (${project.id})`;
    const [root] = project.branches;
    const created = await this.#createProject(project, what);
    if (!isSuccess(created)) {
      this.#omit(what, created);
      return false;
    }
    const createdProject = created.body as {
      project: JsonFields & { id: string };
      branch: JsonFields & { id: string };
      endpoints: (JsonFields & { id: string })[];
    };
    const path = `/projects/${createdProject.project.id}`;
    this.ids[project.id] = createdProject.project.id;
    await this.#calls.waitForOperations(path);
    await this.#applyParts(path, path, "project", projectParts(project), createdProject.project, what);
    for (const branch of project.branches) {
      if (branch === root) await this.#configureRootBranch(path, branch, createdProject, what);
      else await this.#createBranch(path, branch, root, what);
    }
    // After all branches: a branch created later would inherit the new roles and databases of its parent.
    for (const branch of project.branches) await this.#createRolesAndDatabases(path, branch, what);
    for (const branch of project.branches) await this.#finishBranch(path, branch, root, what);
    return true;
  }

  /** Falls back to the default region or version if the server rejects those of the project. */
  async #createProject(project: ProjectCopy, what: string): Promise<PublicResponse> {
    const [root] = project.branches;
    const database = root?.databases[0];
    const fields = {
      name: project.name,
      store_passwords: project.store_passwords ?? undefined,
      branch: {
        name: root?.name,
        database_name: database?.name,
        role_name: database?.owner_name,
      },
    };
    const { region_id, pg_version } = project;
    const rejected = await this.#calls.send("POST", "/projects", {
      project: { ...fields, region_id, pg_version },
    });
    if (isSuccess(rejected)) return rejected;
    for (const fallback of [{ pg_version }, { region_id }, {}]) {
      const created = await this.#calls.send("POST", "/projects", { project: { ...fields, ...fallback } });
      if (!isSuccess(created)) continue;
      const dropped = Object.entries({ region_id, pg_version }).filter(([name]) => !(name in fallback));
      for (const [name, value] of dropped) this.#omit(`${what}: ${name} ${value}`, rejected);
      return created;
    }
    return rejected;
  }

  async #configureRootBranch(
    path: string,
    root: BranchCopy,
    createdProject: { branch: { id: string }; endpoints: readonly (JsonFields & { id: string })[] },
    what: string,
  ) {
    this.ids[root.id] = createdProject.branch.id;
    const [primary] = createdProject.endpoints;
    const copy = root.endpoints.find(({ type }) => type === "read_write");
    if (primary !== undefined && copy !== undefined) {
      this.ids[copy.id] = primary.id;
      const endpoint = `${path}/endpoints/${primary.id}`;
      await this.#applyParts(
        path,
        endpoint,
        "endpoint",
        endpointParts(copy),
        primary,
        `${what}, endpoint ${copy.id}`,
      );
    } else if (primary !== undefined) {
      await this.#calls.change(path, "DELETE", `${path}/endpoints/${primary.id}`);
    }
    for (const endpoint of root.endpoints)
      if (endpoint !== copy) await this.#createEndpoint(path, root, endpoint, what);
  }

  async #createBranch(
    path: string,
    branch: BranchCopy,
    root: BranchCopy | undefined,
    what: string,
  ): Promise<void> {
    const parent = this.ids[branch.parent_id ?? root?.id ?? ""];
    const label = `${what}, branch ${branch.name}`;
    if (parent === undefined)
      return void this.omissions.push({ what: label, because: "its parent was not copied" });
    const created = await this.#calls.change(path, "POST", `${path}/branches`, {
      branch: {
        name: branch.name,
        parent_id: parent,
        init_source: isSchemaOnly(branch) ? "schema-only" : undefined,
      },
    });
    if (!isSuccess(created)) return this.#omit(label, created);
    this.ids[branch.id] = (created.body as { branch: { id: string } }).branch.id;
    for (const endpoint of branch.endpoints) await this.#createEndpoint(path, branch, endpoint, what);
  }

  /**
   * The branch has the roles and databases that it inherited. Creates the missing ones and deletes the
   * others.
   */
  async #createRolesAndDatabases(path: string, branch: BranchCopy, what: string): Promise<void> {
    const id = this.ids[branch.id];
    if (id === undefined) return;
    const branchPath = `${path}/branches/${id}`;
    const label = `${what}, branch ${branch.name}`;
    const [roles, databases] = [
      await this.#namesOf(branchPath, "roles"),
      await this.#namesOf(branchPath, "databases"),
    ];
    const copied = { roles: namesIn(branch.roles), databases: namesIn(branch.databases) };
    // Order: a role that owns a database cannot be deleted, and a database needs its owner.
    for (const name of databases)
      if (!copied.databases.has(name))
        await this.#remove(path, `${branchPath}/databases`, name, `${label}: no database ${name}`);
    for (const { name, authentication_method } of branch.roles) {
      if (roles.has(name)) continue;
      const role = { name, no_login: authentication_method === "no_login" ? true : undefined };
      const response = await this.#calls.change(path, "POST", `${branchPath}/roles`, { role });
      if (!isSuccess(response)) this.#omit(`${label}: role ${name}`, response);
    }
    for (const { name, owner_name } of branch.databases) {
      if (databases.has(name)) continue;
      const response = await this.#calls.change(path, "POST", `${branchPath}/databases`, {
        database: { name, owner_name },
      });
      if (!isSuccess(response)) this.#omit(`${label}: database ${name}`, response);
    }
    for (const name of roles)
      if (!copied.roles.has(name))
        await this.#remove(path, `${branchPath}/roles`, name, `${label}: no role ${name}`);
  }

  async #remove(project: string, list: string, name: string, what: string): Promise<void> {
    const response = await this.#calls.change(project, "DELETE", `${list}/${encodeURIComponent(name)}`);
    if (!isSuccess(response)) this.#omit(what, response);
  }

  async #namesOf(path: string, list: "roles" | "databases"): Promise<Set<string>> {
    const { body } = await this.#api.get(`${path}/${list}`);
    return namesIn((body as Record<string, { name: string }[]> | undefined)?.[list] ?? []);
  }

  async #createEndpoint(path: string, branch: BranchCopy, copy: EndpointCopy, what: string): Promise<void> {
    const label = `${what}, endpoint ${copy.id}`;
    const where = { branch_id: this.ids[branch.id], type: copy.type };
    const parts = endpointParts(copy);
    let created = await this.#calls.change(path, "POST", `${path}/endpoints`, {
      endpoint: deepMerge([{ ...where }, ...parts.map(({ fields }) => fields)]),
    });
    // Perhaps rejected for one setting: create it without settings, then apply each.
    if (!isSuccess(created))
      created = await this.#calls.change(path, "POST", `${path}/endpoints`, { endpoint: where });
    if (!isSuccess(created)) return this.#omit(label, created);
    const { endpoint } = created.body as { endpoint: JsonFields & { id: string } };
    this.ids[copy.id] = endpoint.id;
    await this.#applyParts(path, `${path}/endpoints/${endpoint.id}`, "endpoint", parts, endpoint, label);
  }

  /** Sets what would prevent other changes, so it comes last. */
  async #finishBranch(
    path: string,
    branch: BranchCopy,
    root: BranchCopy | undefined,
    what: string,
  ): Promise<void> {
    const id = this.ids[branch.id];
    if (id === undefined) return;
    const branchPath = `${path}/branches/${id}`;
    const label = `${what}, branch ${branch.name}`;
    if (isDefault(branch) && branch !== root) {
      const response = await this.#calls.change(path, "POST", `${branchPath}/set_as_default`);
      if (!isSuccess(response)) this.#omit(`${label}: default branch`, response);
    }
    await this.#applyParts(path, branchPath, "branch", branchParts(branch), { protected: false }, label);
    if (branch.current_state === "archived") {
      this.omissions.push({
        what: `${label}: archived state`,
        because: "no call of the public API archives a branch",
      });
    }
  }

  /** Applies the parts that differ: in one request or, if that is rejected, one by one. */
  async #applyParts(
    project: string,
    path: string,
    noun: string,
    parts: readonly RequestPart[],
    current: JsonFields,
    what: string,
  ): Promise<void> {
    const outstanding = parts.filter(({ fields }) => !contains(current, fields));
    if (outstanding.length === 0) return;
    const combined = await this.#calls.change(project, "PATCH", path, {
      [noun]: deepMerge(outstanding.map(({ fields }) => fields)),
    });
    if (isSuccess(combined)) return;
    for (const part of outstanding) {
      const response =
        outstanding.length === 1
          ? combined
          : await this.#calls.change(project, "PATCH", path, { [noun]: part.fields });
      if (!isSuccess(response)) this.#omit(`${what}: ${part.what}`, response);
    }
  }

  #omit(what: string, response: PublicResponse): void {
    this.omissions.push({
      what,
      because: apiErrorOf(response).message ?? `the server answered ${response.status}`,
    });
  }
}

function namesIn(list: readonly { readonly name: string }[]): Set<string> {
  return new Set(list.map(({ name }) => name));
}
