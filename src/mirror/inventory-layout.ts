import type { ControlClient } from "../cli/client/client.ts";
import { errorOf, type PublicAnswer, type PublicApi } from "../cli/client/public-api.ts";
import { CliError } from "../cli/terminal/cli-error.ts";
import { type BranchCopy, type EndpointCopy, isDefault, isSchemaOnly, type LeftOut, type ProjectCopy } from "./inventory.ts";
import { branchParts, contains, endpointParts, type Fields, mergeAll, type Part, projectParts } from "./inventory-parts.ts";

const POLL_MS = 50;
/** Operations of a change are over long before. */
const MOST_POLLS = 2_400;
const MOST_OPERATIONS = 100;
const UNFINISHED = new Set(["scheduling", "running"]);

/** Lays projects out in a running double, through the API that it imitates. Its ids are drawn there: nobody can choose them. */
export class InventoryLayout {
  readonly leftOut: LeftOut[] = [];
  /** What each thing that was laid out is called in the double, by its id there. */
  readonly ids: Record<string, string> = {};
  readonly #api: PublicApi;
  readonly #control: ControlClient;

  constructor(api: PublicApi, control: ControlClient) {
    this.#api = api;
    this.#control = control;
  }

  /** Makes a project with all that is in it, and waits until its operations are over. What is refused is left out; gives whether it was made. */
  async layOut(project: ProjectCopy): Promise<boolean> {
    const what = `project ${project.name} (${project.id})`;
    const [root] = project.branches;
    const created = await this.#create(project, what);
    if (!isDone(created)) {
      this.#leave(what, created);
      return false;
    }
    const made = created.body as {
      project: Fields & { id: string };
      branch: Fields & { id: string };
      endpoints: (Fields & { id: string })[];
    };
    const path = `/projects/${made.project.id}`;
    this.ids[project.id] = made.project.id;
    await this.#settle(path);
    await this.#offer(path, path, "project", projectParts(project), made.project, what);
    for (const branch of project.branches) {
      if (branch === root) await this.#dressRoot(path, branch, made, what);
      else await this.#layOutBranch(path, branch, root, what);
    }
    // Only now: a branch that came later would have from its parent what that had got by then.
    for (const branch of project.branches) await this.#layOutContents(path, branch, what);
    for (const branch of project.branches) await this.#finishBranch(path, branch, root, what);
    return true;
  }

  /** Where a project is refused for its region or its version, it is made in the default one. */
  async #create(project: ProjectCopy, what: string): Promise<PublicAnswer> {
    const [root] = project.branches;
    const database = root?.databases[0];
    const fields = {
      name: project.name,
      ...(project.store_passwords == null ? {} : { store_passwords: project.store_passwords }),
      branch: {
        ...(root === undefined ? {} : { name: root.name }),
        ...(database === undefined ? {} : { database_name: database.name, role_name: database.owner_name }),
      },
    };
    const { region_id, pg_version } = project;
    const refused = await this.#try("POST", "/projects", { project: { ...fields, region_id, pg_version } });
    if (isDone(refused)) return refused;
    for (const fewer of [{ pg_version }, { region_id }, {}]) {
      const created = await this.#try("POST", "/projects", { project: { ...fields, ...fewer } });
      if (!isDone(created)) continue;
      const dropped = Object.entries({ region_id, pg_version }).filter(([name]) => !(name in fewer));
      for (const [name, value] of dropped) this.#leave(`${what}: ${name} ${value}`, refused);
      return created;
    }
    return refused;
  }

  async #dressRoot(
    path: string,
    root: BranchCopy,
    made: { branch: { id: string }; endpoints: readonly (Fields & { id: string })[] },
    what: string,
  ) {
    this.ids[root.id] = made.branch.id;
    const [primary] = made.endpoints;
    const copy = root.endpoints.find(({ type }) => type === "read_write");
    if (primary !== undefined && copy !== undefined) {
      this.ids[copy.id] = primary.id;
      const endpoint = `${path}/endpoints/${primary.id}`;
      await this.#offer(path, endpoint, "endpoint", endpointParts(copy), primary, `${what}, endpoint ${copy.id}`);
    } else if (primary !== undefined) {
      await this.#change(path, "DELETE", `${path}/endpoints/${primary.id}`);
    }
    for (const endpoint of root.endpoints) if (endpoint !== copy) await this.#layOutEndpoint(path, root, endpoint, what);
  }

  async #layOutBranch(path: string, branch: BranchCopy, root: BranchCopy | undefined, what: string): Promise<void> {
    const parent = this.ids[branch.parent_id ?? root?.id ?? ""];
    const about = `${what}, branch ${branch.name}`;
    if (parent === undefined) return void this.leftOut.push({ what: about, because: "its parent is left out" });
    const created = await this.#change(path, "POST", `${path}/branches`, {
      branch: { name: branch.name, parent_id: parent, ...(isSchemaOnly(branch) ? { init_source: "schema-only" } : {}) },
    });
    if (!isDone(created)) return this.#leave(about, created);
    this.ids[branch.id] = (created.body as { branch: { id: string } }).branch.id;
    for (const endpoint of branch.endpoints) await this.#layOutEndpoint(path, branch, endpoint, what);
  }

  /** The roles and databases of a branch, which has those of the project's creation and no others. */
  async #layOutContents(path: string, branch: BranchCopy, what: string): Promise<void> {
    const id = this.ids[branch.id];
    if (id === undefined) return;
    const on = `${path}/branches/${id}`;
    const about = `${what}, branch ${branch.name}`;
    const [roles, databases] = [await this.#namesOf(on, "roles"), await this.#namesOf(on, "databases")];
    const copied = { roles: namesIn(branch.roles), databases: namesIn(branch.databases) };
    // What owns a database cannot go, nor what it belongs to come later.
    for (const name of databases)
      if (!copied.databases.has(name)) await this.#remove(path, `${on}/databases`, name, `${about}: no database ${name}`);
    for (const { name, authentication_method } of branch.roles) {
      if (roles.has(name)) continue;
      const role = { name, ...(authentication_method === "no_login" ? { no_login: true } : {}) };
      const answer = await this.#change(path, "POST", `${on}/roles`, { role });
      if (!isDone(answer)) this.#leave(`${about}: role ${name}`, answer);
    }
    for (const { name, owner_name } of branch.databases) {
      if (databases.has(name)) continue;
      const answer = await this.#change(path, "POST", `${on}/databases`, { database: { name, owner_name } });
      if (!isDone(answer)) this.#leave(`${about}: database ${name}`, answer);
    }
    for (const name of roles) if (!copied.roles.has(name)) await this.#remove(path, `${on}/roles`, name, `${about}: no role ${name}`);
  }

  async #remove(project: string, list: string, name: string, what: string): Promise<void> {
    const answer = await this.#change(project, "DELETE", `${list}/${encodeURIComponent(name)}`);
    if (!isDone(answer)) this.#leave(what, answer);
  }

  async #namesOf(path: string, list: "roles" | "databases"): Promise<Set<string>> {
    const { body } = await this.#api.get(`${path}/${list}`);
    return namesIn((body as Record<string, { name: string }[]> | undefined)?.[list] ?? []);
  }

  async #layOutEndpoint(path: string, branch: BranchCopy, copy: EndpointCopy, what: string): Promise<void> {
    const about = `${what}, endpoint ${copy.id}`;
    const where = { branch_id: this.ids[branch.id], type: copy.type };
    const parts = endpointParts(copy);
    let created = await this.#change(path, "POST", `${path}/endpoints`, {
      endpoint: mergeAll([{ ...where }, ...parts.map(({ fields }) => fields)]),
    });
    // Refused for one of its settings, perhaps: without them, each can be offered by itself.
    if (!isDone(created)) created = await this.#change(path, "POST", `${path}/endpoints`, { endpoint: where });
    if (!isDone(created)) return this.#leave(about, created);
    const { endpoint } = created.body as { endpoint: Fields & { id: string } };
    this.ids[copy.id] = endpoint.id;
    await this.#offer(path, `${path}/endpoints/${endpoint.id}`, "endpoint", parts, endpoint, about);
  }

  /** What hinders other changes comes last. */
  async #finishBranch(path: string, branch: BranchCopy, root: BranchCopy | undefined, what: string): Promise<void> {
    const id = this.ids[branch.id];
    if (id === undefined) return;
    const on = `${path}/branches/${id}`;
    const about = `${what}, branch ${branch.name}`;
    if (isDefault(branch) && branch !== root) {
      const answer = await this.#change(path, "POST", `${on}/set_as_default`);
      if (!isDone(answer)) this.#leave(`${about}: that it is the default one`, answer);
    }
    await this.#offer(path, on, "branch", branchParts(branch), { protected: false }, about);
    if (branch.current_state === "archived") {
      this.leftOut.push({ what: `${about}: that it is archived`, because: "no call of the public API archives a branch" });
    }
  }

  /** Changes what is not yet so: all of it at once or, where that is refused, each part by itself. */
  async #offer(project: string, path: string, noun: string, parts: readonly Part[], current: Fields, what: string): Promise<void> {
    const open = parts.filter(({ fields }) => !contains(current, fields));
    if (open.length === 0) return;
    const all = await this.#change(project, "PATCH", path, { [noun]: mergeAll(open.map(({ fields }) => fields)) });
    if (isDone(all)) return;
    for (const part of open) {
      const answer = open.length === 1 ? all : await this.#change(project, "PATCH", path, { [noun]: part.fields });
      if (!isDone(answer)) this.#leave(`${what}: ${part.what}`, answer);
    }
  }

  /** One change in a project, when all that came before is over, and until it is over itself. */
  async #change(project: string, method: string, path: string, body?: unknown): Promise<PublicAnswer> {
    let answer = await this.#try(method, path, body);
    for (let polls = 0; answer.status === 423 && polls < MOST_POLLS; polls += 1) {
      await this.#settle(project);
      answer = await this.#try(method, path, body);
    }
    if (isDone(answer)) await this.#settle(project);
    return answer;
  }

  /** A refusal is an answer; what nobody can leave out ends the work. */
  async #try(method: string, path: string, body?: unknown): Promise<PublicAnswer> {
    const answer = await this.#api.call(method, path, body);
    if (answer.status !== 401 && answer.status !== 429 && (answer.status < 500 || answer.status === 501)) return answer;
    throw new CliError(`${method} ${this.#api.url}${path}: ${answer.status} ${errorOf(answer).message ?? ""}`.trimEnd());
  }

  /** Waits for the end of a project's operations; on a manual clock, which nobody else moves, it does so itself. */
  async #settle(path: string): Promise<void> {
    for (let polls = 0; polls < MOST_POLLS; polls += 1) {
      const answer = await this.#try("GET", `${path}/operations?limit=${MOST_OPERATIONS}`);
      const { operations = [] } = (answer.body ?? {}) as { operations?: { status: string }[] };
      if (!operations.some(({ status }) => UNFINISHED.has(status))) return;
      const { mode } = await this.#control.call<{ mode: string }>("GET", "/clock");
      if (mode === "manual") await this.#control.call("POST", "/clock/advance", { next: true });
      else await this.#api.pause(POLL_MS);
    }
    throw new CliError(`the operations of ${path} do not come to an end`);
  }

  #leave(what: string, answer: PublicAnswer): void {
    this.leftOut.push({ what, because: errorOf(answer).message ?? `the double answered ${answer.status}` });
  }
}

function namesIn(list: readonly { readonly name: string }[]): Set<string> {
  return new Set(list.map(({ name }) => name));
}

function isDone({ status }: PublicAnswer): boolean {
  return status >= 200 && status < 300;
}
