// @ts-nocheck
import { at, findAccount, findBranch, findCompute, findProject, selection } from "../state/world.ts";
import { AccountDetails } from "./account-details.tsx";
import { BranchDetails } from "./branch-details.tsx";
import { ComputeDetails } from "./compute-details.tsx";
import { ProjectDetails } from "./project-details.tsx";

/** The selected object with all that is known of it. */
export function Details() {
  return (
    <section class="details panel" aria-label="Details">
      <Selected />
    </section>
  );
}

function Selected() {
  const selected = selection.value;
  if (selected === undefined)
    return (
      <div class="empty">
        <h2>Details</h2>
        <p>Select a project, a branch or a compute, in the list or in the timeline.</p>
      </div>
    );
  const { kind, id } = selected;
  const compute = kind === "compute" ? findCompute(id) : undefined;
  if (compute !== undefined) return <ComputeDetails key={id} compute={compute} />;
  const branch = kind === "branch" ? findBranch(id) : undefined;
  if (branch !== undefined) return <BranchDetails key={id} branch={branch} />;
  const account = kind === "account" ? findAccount(id) : undefined;
  if (account !== undefined) return <AccountDetails key={id} account={account} />;
  const project = kind === "project" ? findProject(id) : undefined;
  if (project !== undefined) return <ProjectDetails key={id} project={project} />;
  return (
    <div class="empty">
      <h2>Not there</h2>
      <p>
        <code>{id}</code> does not exist {at.value === undefined ? "any more" : "at this instant"}.
      </p>
    </div>
  );
}
