import type { AccountFleet } from "./account-fleet.ts";

type NamedCompute = Pick<AccountFleet["computes"][number], "id" | "project" | "projectName">;

/** Names a compute on a page by its project, or by its id if the project has several computes. */
export function computeNames({ computes }: AccountFleet): (compute: NamedCompute) => string {
  const perProject = new Map<string, number>();
  const projectsPerName = new Map<string, Set<string>>();
  for (const { project, projectName } of computes) {
    perProject.set(project, (perProject.get(project) ?? 0) + 1);
    const projects = projectsPerName.get(projectName);
    if (projects === undefined) projectsPerName.set(projectName, new Set([project]));
    else projects.add(project);
  }
  return ({ id, project, projectName }) => {
    const isAlone = perProject.get(project) === 1 && projectsPerName.get(projectName)?.size === 1;
    return isAlone && projectName !== "" ? projectName : id;
  };
}
