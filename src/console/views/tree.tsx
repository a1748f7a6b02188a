import { useSignal } from "@preact/signals";
import { VirtualList } from "../parts/virtual-list.tsx";
import { createProject } from "../state/actions.ts";
import { isPreparing, openPrepared, PREPARED_WORLDS } from "../state/prepared-worlds.ts";
import { type TreeRow, treeRows } from "../state/tree-rows.ts";
import { canChange, projects, selection, world } from "../state/world.ts";
import { dotOf } from "../timeline/lane-names.tsx";

const ROW_HEIGHT = 27;
/** Deeper branches are not indented further: their names would have no room. */
const MAX_INDENT = 6;

/** Organizations, projects, their branches below the branch they come from, and computes. */
export function Tree() {
  const search = useSignal("");
  const rows = treeRows(search.value);
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
          <p>Or open a prepared world, in which a day has passed:</p>
          <ul class="prepared">
            {PREPARED_WORLDS.map((prepared) => (
              <li key={prepared.name}>
                <button
                  type="button"
                  onClick={() => openPrepared(prepared)}
                  disabled={!canChange.value || isPreparing.value}
                >
                  {prepared.name}
                </button>
                <span>{prepared.about}</span>
              </li>
            ))}
          </ul>
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
          <VirtualList
            rows={rows}
            rowHeight={ROW_HEIGHT}
            label="Organizations, projects, branches and computes"
            render={(row) => <Node key={row.object.id} row={row} />}
          />
          {rows.length === 0 && search.value !== "" && <p class="more">Nothing matches “{search.value}”.</p>}
        </>
      )}
    </nav>
  );
}

function Node({ row }: { readonly row: TreeRow }) {
  const { kind, object, depth } = row;
  const isSelected = selection.value?.id === object.id;
  return (
    <li>
      <button
        type="button"
        class={`node ${kind} nested ${isSelected ? "selected" : ""}`}
        style={{ "--depth": Math.max(0, Math.min(depth, MAX_INDENT) - 1) }}
        aria-pressed={isSelected}
        title={object.name}
        onClick={() => {
          selection.value = { kind, id: object.id };
        }}
      >
        <Label row={row} />
      </button>
    </li>
  );
}

function Label({ row }: { readonly row: TreeRow }) {
  switch (row.kind) {
    case "account":
      return (
        <>
          <span class="name">{row.object.name}</span>
          <small>{row.object.plan}</small>
        </>
      );
    case "project":
      return <span class="name">{row.object.name}</span>;
    case "branch":
      return (
        <>
          <span class="name">{row.object.name}</span>
          {row.object.protected && <small>protected</small>}
        </>
      );
    case "compute":
      return (
        <>
          <span class={`dot ${dotOf(row.object)}`} aria-hidden="true" />
          {row.object.type === "read_only" ? "replica" : "primary"}
          <small>
            {row.object.phase.state === "active" ? `${row.object.phase.size_cu} CU` : "suspended"}
          </small>
        </>
      );
  }
}
