import type { Project } from "../client/types.ts";
import { Facts } from "../parts/facts.tsx";
import { createBranch, deleteProject } from "../state/actions.ts";
import { formatDuration, formatInstant, words } from "../state/format.ts";
import { branchesOf } from "../state/tree-rows.ts";
import { canChange, computes, shownNow, world } from "../state/world.ts";
import { AllFields } from "./all-fields.tsx";
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
            {state.due_at && state.started_at && shownNow.value !== undefined && (
              <Progress
                begin={Date.parse(state.started_at)}
                end={Date.parse(state.due_at)}
                at={shownNow.value}
              />
            )}
          </li>
        ))}
        {operations.length === 0 && <li>none: changes are accepted</li>}
      </ul>
      <AllFields object={project} />
    </>
  );
}

type ProgressProps = { readonly begin: number; readonly end: number; readonly at: number };

function Progress({ begin, end, at }: ProgressProps) {
  const left = `ends in ${formatDuration(Math.max(0, end - at))}`;
  return (
    <>
      <progress max={Math.max(1, end - begin)} value={Math.max(0, at - begin)} aria-label={left} />
      <small>{left}</small>
    </>
  );
}
