import { useSignal } from "@preact/signals";
import type { Branch, Project } from "../client/types.ts";
import { createProject } from "../state/actions.ts";
import { branches, canChange, computes, projects, type Selection, selection, world } from "../state/world.ts";
import { dotOf } from "../timeline/lane-names.tsx";

/** More projects than that are found by name. */
const MAX_PROJECTS = 200;

/** Projects, their branches below the branch they come from, and computes. */
export function Tree() {
  const search = useSignal("");
  const wanted = search.value.trim().toLowerCase();
  const matching = projects.value.filter(
    ({ id, name }) =>
      name.toLowerCase().includes(wanted) ||
      id.includes(wanted) ||
      branches.value.some((branch) => branch.project_id === id && branch.name.toLowerCase().includes(wanted)),
  );
  const isEmpty = world.value !== undefined && projects.value.length === 0;
  return (
    <nav class="tree panel" aria-label="Projects">
      <div class="toolbar">
        <h2>Projects</h2>
        <button type="button" class="quiet" onClick={createProject} disabled={!canChange.value}>
          + New
        </button>
      </div>
      {isEmpty ? (
        <div class="empty">
          <p>This world has no projects.</p>
          <button type="button" class="primary" onClick={createProject} disabled={!canChange.value}>
            Create project
          </button>
          <p>
            Or point a client at <code>{location.origin}/api/v2</code>.
          </p>
        </div>
      ) : (
        <>
          <input
            type="search"
            class="search"
            placeholder="Search by name or id"
            aria-label="Search projects and branches"
            value={search.value}
            onInput={(event) => {
              search.value = event.currentTarget.value;
            }}
          />
          <ul class="nodes">
            {matching.slice(0, MAX_PROJECTS).map((project) => (
              <ProjectNode key={project.id} project={project} />
            ))}
          </ul>
          {matching.length > MAX_PROJECTS && (
            <p class="more">{matching.length - MAX_PROJECTS} more: search by name.</p>
          )}
          {matching.length === 0 && wanted !== "" && <p class="more">Nothing matches “{search.value}”.</p>}
        </>
      )}
    </nav>
  );
}

function ProjectNode({ project }: { readonly project: Project }) {
  const own = branches.value.filter(({ project_id }) => project_id === project.id);
  const ids = new Set(own.map(({ id }) => id));
  const roots = own.filter(({ parent_id }) => parent_id === undefined || !ids.has(parent_id));
  return (
    <li>
      <NodeButton of={{ kind: "project", id: project.id }} className="project">
        {project.name}
      </NodeButton>
      <ul>
        {roots.map((branch) => (
          <BranchNode key={branch.id} branch={branch} all={own} />
        ))}
      </ul>
    </li>
  );
}

function BranchNode({ branch, all }: { readonly branch: Branch; readonly all: readonly Branch[] }) {
  const children = all.filter(({ parent_id }) => parent_id === branch.id);
  const own = computes.value.filter(({ branch_id }) => branch_id === branch.id);
  return (
    <li>
      <NodeButton of={{ kind: "branch", id: branch.id }} className="branch">
        {branch.name}
        {branch.protected && <small> protected</small>}
      </NodeButton>
      {own.length + children.length > 0 && (
        <ul>
          {own.map((compute) => (
            <li key={compute.id}>
              <NodeButton of={{ kind: "compute", id: compute.id }} className="compute">
                <span class={`dot ${dotOf(compute)}`} aria-hidden="true" />
                {compute.type === "read_only" ? "replica" : "primary"}
                <small>
                  {compute.phase.state === "active" ? ` ${compute.phase.size_cu} CU` : " suspended"}
                </small>
              </NodeButton>
            </li>
          ))}
          {children.map((child) => (
            <BranchNode key={child.id} branch={child} all={all} />
          ))}
        </ul>
      )}
    </li>
  );
}

type NodeButtonProps = {
  readonly of: Selection;
  readonly className: string;
  readonly children: preact.ComponentChildren;
};

function NodeButton({ of, className, children }: NodeButtonProps) {
  const isSelected = selection.value?.id === of.id;
  return (
    <button
      type="button"
      class={`node ${className} ${isSelected ? "selected" : ""}`}
      aria-pressed={isSelected}
      onClick={() => {
        selection.value = of;
      }}
    >
      {children}
    </button>
  );
}
