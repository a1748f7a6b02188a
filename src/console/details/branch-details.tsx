import { type Signal, useSignal } from "@preact/signals";
import type { Branch, Compute } from "../client/types.ts";
import { CopyText } from "../parts/copy-text.tsx";
import { Facts } from "../parts/facts.tsx";
import { connectionUri, createBranch, createCompute, deleteBranch } from "../state/actions.ts";
import { formatInstant } from "../state/format.ts";
import { attempt } from "../state/notices.ts";
import { canChange, computes, findBranch, findProject, selection } from "../state/world.ts";
import { AllFields } from "./all-fields.tsx";
import { BranchData } from "./branch-data.tsx";
import { pointText } from "./branch-graph.tsx";

type BranchProps = { readonly branch: Branch };

export function BranchDetails({ branch }: BranchProps) {
  const uri = useSignal<string | undefined>(undefined);
  const project = findProject(branch.project_id);
  const parent = branch.parent_id === undefined ? undefined : findBranch(branch.parent_id);
  const own = computes.value.filter(({ branch_id }) => branch_id === branch.id);
  return (
    <>
      <h2>
        {project?.name} / {branch.name}
      </h2>
      <p class="id">
        <code>{branch.id}</code>
      </p>
      {canChange.value && <BranchButtons branch={branch} own={own} />}
      <Facts
        facts={[
          ["State", branch.state],
          ["Parent", parent?.name ?? "none"],
          ["Begins", pointText(branch)],
          ["Created", formatInstant(branch.created_at)],
          ["Databases", branch.databases.map(({ name }) => name).join(", ") || "none"],
          ["Roles", branch.roles.map(({ name }) => name).join(", ") || "none"],
          ["Default, protected", `${branch.default ? "yes" : "no"}, ${branch.protected ? "yes" : "no"}`],
        ]}
      />
      {canChange.value && <ConnectionString branch={branch} uri={uri} />}
      <BranchData branch={branch} />
      <h3>Computes</h3>
      <ComputeLinks computes={own} />
      <AllFields object={branch} />
    </>
  );
}

function BranchButtons({ branch, own }: BranchProps & { readonly own: readonly Compute[] }) {
  const project = findProject(branch.project_id);
  const hasPrimary = own.some(({ type }) => type === "read_write");
  return (
    <div class="buttons">
      <button type="button" onClick={() => project && createBranch(project, branch)}>
        New branch
      </button>
      <button type="button" onClick={() => createCompute(branch, hasPrimary ? "read_only" : "read_write")}>
        {hasPrimary ? "New replica" : "New compute"}
      </button>
      <button
        type="button"
        class="danger quiet"
        disabled={branch.default}
        title={branch.default ? "The default branch of a project cannot be deleted" : undefined}
        onClick={() => deleteBranch(branch)}
      >
        Delete
      </button>
    </div>
  );
}

/** The URI contains the password, so it is read and shown only on request. */
function ConnectionString({ branch, uri }: BranchProps & { readonly uri: Signal<string | undefined> }) {
  const reveal = async () => {
    uri.value = await attempt(() => connectionUri(branch));
  };
  return (
    <>
      <h3>Connect</h3>
      {uri.value === undefined ? (
        <button type="button" onClick={reveal}>
          Show connection string
        </button>
      ) : (
        <CopyText text={uri.value} label="connection string" />
      )}
    </>
  );
}

function ComputeLinks({ computes: linked }: { readonly computes: readonly Compute[] }) {
  return (
    <ul class="links">
      {linked.map(({ id, type, phase }) => (
        <li key={id}>
          <button
            type="button"
            class="link"
            onClick={() => {
              selection.value = { kind: "compute", id };
            }}
          >
            {type === "read_only" ? "replica" : "primary"} <code>{id}</code>
          </button>
          <small>{phase.state === "active" ? "active" : "suspended"}</small>
        </li>
      ))}
      {linked.length === 0 && <li>none</li>}
    </ul>
  );
}
