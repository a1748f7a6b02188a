// @ts-nocheck
import type { Account } from "../client/types.ts";
import { Facts } from "../parts/facts.tsx";
import { createProject } from "../state/actions.ts";
import { canChange, computes, findProject, projects, selection } from "../state/world.ts";

const MAX_PROJECTS = 50;

/** An organization: the owner of projects and of API keys. */
export function AccountDetails({ account }: { readonly account: Account }) {
  const own = projects.value.filter(({ account_id }) => account_id === account.id);
  const active = computes.value.filter(
    ({ project_id, phase }) => phase.state === "active" && findProject(project_id)?.account_id === account.id,
  );
  return (
    <>
      <h2>{account.name}</h2>
      <p class="id">
        <code>{account.organization_id}</code>
      </p>
      {canChange.value && (
        <div class="buttons">
          <button type="button" onClick={createProject}>
            New project
          </button>
        </div>
      )}
      <Facts
        facts={[
          ["Plan", account.plan],
          ["Owner", account.email],
          ["Account", <code key="id">{account.id}</code>],
          ["Projects", String(own.length)],
          ["Active computes", String(active.length)],
        ]}
      />
      <h3>Projects</h3>
      <ul class="links">
        {own.slice(0, MAX_PROJECTS).map(({ id, name }) => (
          <li key={id}>
            <button
              type="button"
              class="link"
              onClick={() => {
                selection.value = { kind: "project", id };
              }}
            >
              {name}
            </button>
          </li>
        ))}
        {own.length === 0 && <li>none</li>}
        {own.length > MAX_PROJECTS && <li>{own.length - MAX_PROJECTS} more: see the list</li>}
      </ul>
    </>
  );
}
