import type { WorldDescription } from "./scenario-schema.ts";

/** Where a project's branch has computes, the first read-write one is meant by the branch's label. */
const FULL_LABEL = /^[a-z0-9][a-z0-9-]*(\/[a-z0-9][a-z0-9-]*){0,2}$/;

export type LabelKind = "account" | "project" | "branch" | "compute";

/** One thing of the world under its label. */
export type LabelledResource = {
  readonly kind: LabelKind;
  readonly label: string;
  /** Of an account it is the id of its organization's account. */
  readonly id: string;
  readonly account: string;
};

/** The things of a world by label. Computes that a wildcard names come in the order of the file. */
export class Labels {
  readonly #byLabel = new Map<string, LabelledResource>();
  readonly #byId = new Map<string, LabelledResource>();

  add(labelled: LabelledResource): void {
    this.#byLabel.set(labelled.label, labelled);
    this.#byId.set(labelled.id, labelled);
  }

  get(label: string): LabelledResource | undefined {
    return this.#byLabel.get(label);
  }

  /** The label of an id, or the id itself where nobody gave it one. */
  labelOf(id: string): string {
    return this.#byId.get(id)?.label ?? id;
  }

  all(): readonly LabelledResource[] {
    return [...this.#byLabel.values()];
  }

  /** What a label means where a compute is wanted: `shop/main` is its first read-write one; `fleet-*` are many. */
  computes(pattern: string): readonly LabelledResource[] {
    const exact = this.#byLabel.get(pattern);
    if (exact?.kind === "compute") return [exact];
    const depth = pattern.split("/").length;
    const matches = patternMatcher(pattern);
    const found = new Map<string, LabelledResource>();
    for (const resource of this.#byLabel.values()) {
      if (resource.kind !== "compute" || !matches(resource.label.split("/").slice(0, depth).join("/")))
        continue;
      const branch = depth === 3 ? resource.label : resource.label.slice(0, resource.label.lastIndexOf("/"));
      if (!found.has(branch)) found.set(branch, resource);
    }
    return [...found.values()];
  }
}

function patternMatcher(pattern: string): (label: string) => boolean {
  if (!pattern.includes("*")) return (label) => label === pattern;
  const expression = new RegExp(`^${pattern.replaceAll("*", "[a-z0-9-]*")}$`);
  return (label) => expression.test(label);
}

/** Whether a text has the form of a label, wildcards included. */
export function isLabel(text: string): boolean {
  return FULL_LABEL.test(text.replaceAll("*", "x"));
}

/** The account that projects belong to which name none. */
const MAIN_ACCOUNT = "main";

/** The accounts of a description, projects without an account under theirs, `count` written out. */
export function accountDescriptions(world: WorldDescription): readonly AccountDescription[] {
  const accounts = Object.entries(world.accounts).map(([label, account]) => ({
    label,
    plan: account.plan ?? world.plan,
    projects: expandProjects(account.projects),
  }));
  const unassigned = expandProjects(world.projects);
  const main = accounts.find(({ label }) => label === MAIN_ACCOUNT);
  if (main !== undefined)
    return accounts.map((one) =>
      one === main ? { ...one, projects: [...one.projects, ...unassigned] } : one,
    );
  return unassigned.length === 0 && accounts.length > 0
    ? accounts
    : [{ label: MAIN_ACCOUNT, plan: world.plan, projects: unassigned }, ...accounts];
}

type ProjectFields = WorldDescription["projects"][string];
export type ProjectDescription = Omit<ProjectFields, "count"> & { readonly label: string };
export type AccountDescription = {
  readonly label: string;
  readonly plan: "paid" | "free";
  readonly projects: readonly ProjectDescription[];
};

function expandProjects(projects: Readonly<Record<string, ProjectFields>>): ProjectDescription[] {
  return Object.entries(projects).flatMap(([label, { count, ...project }]) =>
    count === undefined
      ? [{ ...project, label }]
      : Array.from({ length: count }, (_, index) => ({ ...project, label: `${label}-${index + 1}` })),
  );
}

/** Every label of a description: known before the world is. */
export function labelsOfDescription(
  world: WorldDescription,
): readonly { readonly kind: LabelKind; readonly label: string; readonly account: string }[] {
  return accountDescriptions(world).flatMap((account) => [
    { kind: "account" as const, label: account.label, account: account.label },
    ...account.projects.flatMap((project) => [
      { kind: "project" as const, label: project.label, account: account.label },
      ...Object.entries(project.branches).flatMap(([branch, { computes }]) => [
        { kind: "branch" as const, label: `${project.label}/${branch}`, account: account.label },
        ...Object.keys(computes).map((compute) => ({
          kind: "compute" as const,
          label: `${project.label}/${branch}/${compute}`,
          account: account.label,
        })),
      ]),
    ]),
  ]);
}
