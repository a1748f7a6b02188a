import type { Project } from "../client/types.ts";
import { Facts } from "../parts/facts.tsx";
import { formatDuration, formatInstant, words } from "../parts/format.ts";
import { createBranch, deleteProject } from "../state/actions.ts";
import { branchesOf } from "../state/tree-rows.ts";
import { canChange, computes, now, world } from "../state/world.ts";
import { BranchGraph } from "./branch-graph.tsx";

export function ProjectDetails({ project }: { readonly project: Project }) {
  const own = branchesOf(project.id);
  const root = own.find((branch) => branch.default);
  const running = computes.value.filter(
    ({ project_id, phase }) => project_id === project.id && phase.state === "active",
  );
  const operations = (world.value?.operations ?? []).filter(({ project_id }) => project_id === project.id);
  return (
    <>
      <h2>{project.name}</h2>
      <p class="id">
        <code>{project.id}</code>
      </p>
      {canChange.value && (
        <div class="buttons">
          <button type="button" onClick={() => createBranch(project, root)}>
            New branch
          </button>
          <button type="button" class="danger quiet" onClick={() => deleteProject(project)}>
            Delete
          </button>
        </div>
      )}
      <Facts
        facts={[
          ["Region", project.region_id],
          ["Postgres", String(project.pg_version)],
          ["Created", formatInstant(project.created_at)],
          ["Active computes", String(running.length)],
        ]}
      />
      <h3>Branches</h3>
      <BranchGraph branches={own} />
      <h3>Operations under way</h3>
      <ul class="operations">
        {operations.map(({ id, action, state }) => (
          <li key={id}>
            {words(action)}
            <small>{state.status}</small>
            {state.due_at && now.value !== undefined && (
              <small>ends in {formatDuration(Math.max(0, Date.parse(state.due_at) - now.value))}</small>
            )}
          </li>
        ))}
        {operations.length === 0 && <li>none: changes are accepted</li>}
      </ul>
    </>
  );
}
