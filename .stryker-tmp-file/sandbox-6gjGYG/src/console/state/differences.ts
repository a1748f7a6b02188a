// @ts-nocheck
import type { WorldState } from "../client/types.ts";

/** A field of an object, or a whole object, that two worlds have in different ways. */
export type Difference = {
  /** Such as `branch shop / main`. */
  readonly object: string;
  /** Empty if only one world has the object. */
  readonly field: string;
  readonly here: string;
  readonly there: string;
};

type Row = Readonly<Record<string, unknown>> & { readonly id: string };
type Kind = { readonly name: string; readonly rows: (state: WorldState) => readonly Row[] };

const KINDS: readonly Kind[] = [
  { name: "account", rows: ({ accounts }) => accounts },
  { name: "project", rows: ({ projects }) => projects },
  { name: "branch", rows: ({ branches }) => branches },
  { name: "compute", rows: ({ endpoints }) => endpoints },
];
const EXISTS = "exists";
const MISSING = "–";

/** In which objects two worlds differ: accounts, projects, branches and computes, field by field. */
export function differencesOf(here: WorldState, there: WorldState): readonly Difference[] {
  return KINDS.flatMap(({ name, rows }) => {
    const [ours, theirs] = [byId(rows(here)), byId(rows(there))];
    return [...new Set([...ours.keys(), ...theirs.keys()])].flatMap((id) => {
      const [one, other] = [ours.get(id), theirs.get(id)];
      const object = `${name} ${nameOf(one === undefined ? there : here, one ?? other, id)}`;
      if (one === undefined || other === undefined)
        return [
          {
            object,
            field: "",
            here: one === undefined ? MISSING : EXISTS,
            there: other === undefined ? MISSING : EXISTS,
          },
        ];
      return differentFields(one, other).map((field) => ({ object, ...field }));
    });
  });
}

function byId(rows: readonly Row[]): ReadonlyMap<string, Row> {
  return new Map(rows.map((row) => [row.id, row]));
}

/** The project and the branch of an object, and its own name or id. */
function nameOf(state: WorldState, row: Row | undefined, id: string): string {
  const project = state.projects.find((one) => one.id === row?.["project_id"])?.name;
  const branch = state.branches.find((one) => one.id === row?.["branch_id"])?.name;
  return [project, branch, row?.["name"] ?? id].filter((name) => name !== undefined).join(" / ");
}

function differentFields(one: Row, other: Row): Omit<Difference, "object">[] {
  const [ours, theirs] = [new Map(flatten(one)), new Map(flatten(other))];
  return [...new Set([...ours.keys(), ...theirs.keys()])]
    .filter((field) => ours.get(field) !== theirs.get(field))
    .map((field) => ({ field, here: ours.get(field) ?? MISSING, there: theirs.get(field) ?? MISSING }));
}

/** `{phase: {state: "idle"}}` as `["phase.state", "idle"]`. */
function flatten(value: unknown, path = ""): [string, string][] {
  if (typeof value !== "object" || value === null) return [[path, String(value)]];
  return Object.entries(value).flatMap(([key, inner]) =>
    flatten(inner, path === "" ? key : `${path}.${key}`),
  );
}
