import type { World } from "../../platform/world/world.ts";
import { renderSorted } from "../http/render-object.ts";
import { sortInSlices } from "../http/sort-in-slices.ts";

/** Projects, and everything that rows can belong to: these projects, their branches and their computes. */
type Owners = { readonly projects: readonly string[]; readonly all: readonly string[] };

type StateList<R = never> = {
  readonly rows: (world: World) => Iterable<R>;
  /** Default: in order of creation. */
  readonly order?: (one: R, other: R) => number;
  readonly shown?: (row: R) => object;
  /** The rows of these owners, read by an index; absent if rows belong to no project. */
  readonly rowsOf?: (world: World, owners: Owners) => readonly R[];
};

const list = <R>(one: StateList<R>) => one;
const valuesOf = <R>(table: { values(): Iterable<R> }): readonly R[] => [...table.values()];
const compareText = (one: string, other: string) => (one < other ? -1 : 1);
/** The rows of each id, in order of creation. */
const created = <R extends { readonly number: number }>(
  ids: readonly string[],
  rowsOf: (id: string) => { values(): Iterable<R> },
): readonly R[] => ids.flatMap((id) => valuesOf(rowsOf(id))).sort((one, other) => one.number - other.number);

const LISTS = {
  accounts: list({ rows: ({ accounts }) => accounts.values() }),
  api_keys: list({
    rows: ({ apiKeys }) => apiKeys.values(),
    // Omits the hash: it is not part of the world's behaviour, and differs in an exported world.
    shown: ({ hash: _, ...apiKey }) => apiKey,
  }),
  projects: list({
    rows: ({ projects }) => projects.values(),
    rowsOf: (world, { projects }) =>
      projects.flatMap((id) => world.projects.get(id) ?? []).sort((one, other) => one.number - other.number),
  }),
  branches: list({
    rows: ({ branches }) => branches.values(),
    rowsOf: ({ branches }, { projects }) => created(projects, (id) => branches.by("project", id)),
  }),
  endpoints: list({
    rows: ({ computes }) => computes.values(),
    rowsOf: ({ computes }, { projects }) => created(projects, (id) => computes.by("project", id)),
  }),
  connections: list({
    rows: ({ connections }) => connections.toArray(),
    order: (one, other) => compareText(`${one.endpointId}/${one.id}`, `${other.endpointId}/${other.id}`),
    rowsOf: ({ connections }, { all }) => all.flatMap((id) => valuesOf(connections.forCompute(id))),
  }),
  operations: list({
    rows: ({ operations }) => operations.values(),
    rowsOf: ({ operations }, { projects }) => created(projects, (id) => operations.by("project", id)),
  }),
  scheduled_activities: list({
    rows: ({ scheduledActivities }) => scheduledActivities.values(),
    rowsOf: ({ scheduledActivities }, { all }) =>
      created(all, (id) => scheduledActivities.by("endpoint", id)),
  }),
  usage: list({
    rows: ({ usage }) => usage.values(),
    order: (one, other) => compareText(one.id, other.id),
    rowsOf: ({ usage }, { all }) => all.flatMap((id) => usage.get(id) ?? []),
  }),
  hourly_usage: list({
    rows: ({ hourlyUsage }) => hourlyUsage.values(),
    order: (one, other) => (one.of < other.of ? -1 : one.of > other.of ? 1 : one.hour - other.hour),
    rowsOf: ({ hourlyUsage }, { all }) => all.flatMap((id) => hourlyUsage.rowsOf(id)),
  }),
  branch_snapshots: list({
    rows: ({ branchSnapshots }) => branchSnapshots.values(),
    rowsOf: ({ branchSnapshots }, { projects }) =>
      created(projects, (id) => branchSnapshots.by("project", id)),
  }),
  records: list({
    rows: ({ records }) => records.values(),
    rowsOf: ({ records }, { all }) => created(all, (id) => records.by("scope", id)),
  }),
  faults: list({ rows: ({ faults }) => faults.values() }),
};
type ListName = keyof typeof LISTS;
const LIST_NAMES = Object.keys(LISTS) as ListName[];

/** The fields of the state that a reader can omit. */
export const STATE_FIELDS = ["world", "numbers", ...LIST_NAMES] as const;
type StateField = (typeof STATE_FIELDS)[number];

const ROWS_PER_PIECE = 200;
/** Takes a millisecond. */
const ROWS_COPIED_PER_STEP = 2_000;

/** The durable state of a world, rows in order of creation. Two worlds are equal if and only if these are. */
export function renderState(world: World) {
  const lists = Object.fromEntries(
    LIST_NAMES.map((name) => {
      const { rows, order, shown } = listOf(name);
      const ordered = order === undefined ? [...rows(world)] : [...rows(world)].sort(order);
      return [name, ordered.map((row) => renderSorted(shown === undefined ? row : shown(row)))];
    }),
  ) as Record<ListName, unknown[]>;
  return { ...head(world), ...settingsOf(world), ...lists };
}

/**
 * The JSON text of the state, or of some of its fields, or of what belongs to some projects, in pieces of
 * bounded work. The rows are copied in steps, between which the world must not change. Afterwards it may.
 */
export function* stateSteps(
  world: World,
  fields: readonly StateField[] = STATE_FIELDS,
  projectIds?: readonly string[],
): Generator<undefined, Generator<string>> {
  const owners = projectIds && ownersIn(world, projectIds);
  const lists: Rows[] = [];
  let count = 0;
  for (const name of LIST_NAMES.filter((name) => fields.includes(name))) {
    const { rows, rowsOf } = listOf(name);
    const copied: never[] = [];
    for (const row of owners && rowsOf ? rowsOf(world, owners) : rows(world)) {
      copied.push(row);
      count += 1;
      if (count % ROWS_COPIED_PER_STEP === 0) yield undefined;
    }
    lists.push({ name, rows: copied });
  }
  const { world: settings, numbers } = settingsOf(world);
  const first = {
    ...head(world),
    ...(fields.includes("world") ? { world: settings } : {}),
    ...(fields.includes("numbers") ? { numbers } : {}),
  };
  return pieces(JSON.stringify(first).slice(0, -1), lists);
}

type Rows = { readonly name: ListName; readonly rows: readonly never[] };

function* pieces(start: string, lists: readonly Rows[]): Generator<string> {
  let piece = start;
  let rowsInPiece = 0;
  for (const { name, rows } of lists) {
    const { order, shown } = listOf(name);
    piece += `,${JSON.stringify(name)}:[`;
    let ordered = rows;
    if (order !== undefined) {
      const sorting = sortInSlices(rows, order);
      let next = sorting.next();
      for (; next.done !== true; next = sorting.next()) yield "";
      ordered = next.value;
    }
    let separator = "";
    for (const row of ordered) {
      piece += separator + JSON.stringify(renderSorted(shown === undefined ? row : shown(row)));
      separator = ",";
      rowsInPiece += 1;
      if (rowsInPiece < ROWS_PER_PIECE) continue;
      yield piece;
      piece = "";
      rowsInPiece = 0;
    }
    piece += "]";
  }
  yield `${piece}}`;
}

/** The lists have rows of different types, which only their own functions read. */
function listOf(name: ListName): StateList {
  return LISTS[name] as unknown as StateList;
}

function head(world: World) {
  return { seq: world.seq, at: renderSorted(world.at, "at") };
}

function settingsOf(world: World) {
  // Not named `settings`, which is reserved for free-form objects.
  return { world: renderSorted(world.settings), numbers: renderSorted(world.numbers) };
}

function ownersIn({ branches, computes }: World, projectIds: readonly string[]): Owners {
  const projects = [...new Set(projectIds)];
  const inside = projects.flatMap((id) => [
    ...branches.by("project", id).keys(),
    ...computes.by("project", id).keys(),
  ]);
  return { projects, all: [...projects, ...inside] };
}
