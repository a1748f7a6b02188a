// @ts-nocheck
import type { LabelKind } from "./labels.ts";
import type { WorldDescription } from "./world-schema.ts";

/** The account of the projects under `world.projects`. */
const MAIN_ACCOUNT = "main";

/** The accounts of a description: projects without an account are under `main`, and `count` is expanded. */
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

/** Every label of a description. Known before the world exists. */
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
