/** The type of a JSON value; for strings, the format that clients may parse. */
type JsonKind = "null" | "boolean" | "number" | "array" | "object" | StringFormat;
type StringFormat = "timestamp" | "uuid" | "id" | "text" | "empty text";

/** The union of the shapes of all values at one path. */
export type Shape = {
  readonly kinds: ReadonlySet<JsonKind>;
  /** Number of values that were objects with fields, including empty objects. */
  readonly objects: number;
  readonly fields: ReadonlyMap<string, ShapeField>;
  /** Shape of the values in maps, objects whose keys are not fields; absent if all maps were empty. */
  readonly entries?: Shape;
  /** Shape of the items of arrays; absent if all arrays were empty. */
  readonly items?: Shape;
};
type ShapeField = { readonly shape: Shape; readonly seen: number };

/** One difference, by its path in the answer. */
export type ShapeDifference = {
  readonly path: string;
  /** `sometimes` and `not compared` are remarks: different content may explain them. */
  readonly kind: "missing here" | "missing there" | "type" | "format" | "sometimes" | "not compared";
  readonly here: string;
  readonly there: string;
};

const ABSENT = "absent";
/** Deeper values are ignored. The public document nests six levels deep. */
const MAX_DEPTH = 50;

/** S: objects of these names are maps: their keys are ids or chosen by users. */
const USER_KEYED = new Set([
  "annotations",
  "applications",
  "integrations",
  "pg_settings",
  "pgbouncer_settings",
  "value",
]);

/** S: optional fields that depend on the state of an object: a branch may have no parent. */
const STATE_DEPENDENT_FIELDS = new Set([
  ...[
    "parent_id",
    "parent_lsn",
    "parent_timestamp",
    "pending_state",
    "ttl_interval_seconds",
    "last_reset_at",
  ],
  ...[
    "restore_status",
    "restored_from",
    "restored_as",
    "recovery",
    "last_active",
    "started_at",
    "suspended_at",
  ],
  ...[
    "compute_release_version",
    "retry_at",
    "maintenance_scheduled_for",
    "quota_reset_at",
    "compute_last_active_at",
  ],
]);

/** The combined shape of all values. A field that only some objects have is present sometimes. */
export function shapeOf(values: readonly unknown[]): Shape {
  const shape = emptyShape();
  for (const value of values) addValue(shape, value, "", 0);
  return shape;
}

export function isRemark({ kind }: ShapeDifference): boolean {
  return kind === "sometimes" || kind === "not compared";
}

/** The differences of two shapes, in the order of the fields here, then of the fields only there. */
export function compareShapes(here: Shape, there: Shape, path = ""): ShapeDifference[] {
  const types = [typesOf(here), typesOf(there)] as const;
  const location = path === "" ? "the answer" : path;
  if (areDisjoint(...types))
    return [{ path: location, kind: "type", here: describeKinds(here), there: describeKinds(there) }];
  return [
    ...(areEqual(...types)
      ? []
      : [
          {
            path: location,
            kind: "sometimes",
            here: describeKinds(here),
            there: describeKinds(there),
          } as const,
        ]),
    ...compareFormats(here, there, location),
    ...compareFields(here, there, path),
    ...compareContents(here.entries, there.entries, `${path}{}`),
    ...compareContents(here.items, there.items, `${path}[]`),
  ];
}

type ShapeBuilder = {
  kinds: Set<JsonKind>;
  objects: number;
  fields: Map<string, { shape: ShapeBuilder; seen: number }>;
  entries?: ShapeBuilder;
  items?: ShapeBuilder;
};

function emptyShape(): ShapeBuilder {
  return { kinds: new Set(), objects: 0, fields: new Map() };
}

function addValue(shape: ShapeBuilder, value: unknown, name: string, depth: number): void {
  shape.kinds.add(kindOf(value, name));
  if (typeof value !== "object" || value === null || depth === MAX_DEPTH) return;
  if (Array.isArray(value)) {
    for (const item of value) {
      shape.items ??= emptyShape();
      addValue(shape.items, item, name, depth + 1);
    }
    return;
  }
  const fields = Object.entries(value);
  if (isMap(name, fields)) {
    for (const [, entry] of fields) {
      shape.entries ??= emptyShape();
      addValue(shape.entries, entry, "", depth + 1);
    }
    return;
  }
  shape.objects += 1;
  for (const [key, inner] of fields) {
    const field = shape.fields.get(key) ?? { shape: emptyShape(), seen: 0 };
    field.seen += 1;
    shape.fields.set(key, field);
    addValue(field.shape, inner, key, depth + 1);
  }
}

function isMap(name: string, fields: readonly (readonly [string, unknown])[]): boolean {
  return USER_KEYED.has(name) || (fields.length > 0 && fields.every(([key]) => looksLikeId(key)));
}

/** Field names have underscores; ids have hyphens or are numbers. */
function looksLikeId(key: string): boolean {
  return /^[a-z0-9]+(-[a-z0-9]+)+$/i.test(key) || /^\d+$/.test(key);
}

function kindOf(value: unknown, name: string): JsonKind {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  if (typeof value === "string") return formatOf(value, name);
  return typeof value as "boolean" | "number" | "object";
}

/** A name may look like an id, so only fields named `id` or `…_id` have the format `id`. */
function formatOf(text: string, name: string): StringFormat {
  if (text === "") return "empty text";
  if (/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/.test(text)) return "timestamp";
  if (/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text)) return "uuid";
  return /(^|_)ids?$/.test(name) && /^[a-z0-9-]{1,60}$/.test(text) ? "id" : "text";
}

const FORMATS = new Set<JsonKind>(["timestamp", "uuid", "id", "text"] satisfies StringFormat[]);

function typesOf({ kinds }: Shape): Set<string> {
  return new Set([...kinds].map((kind) => (FORMATS.has(kind) || kind === "empty text" ? "string" : kind)));
}

/** An empty text matches every format. */
function compareFormats(here: Shape, there: Shape, path: string): ShapeDifference[] {
  const [ours, theirs] = [here, there].map(
    ({ kinds }) => new Set([...kinds].filter((kind) => FORMATS.has(kind))),
  ) as [Set<JsonKind>, Set<JsonKind>];
  if (ours.size === 0 || theirs.size === 0 || !areDisjoint(ours, theirs)) return [];
  return [{ path, kind: "format", here: [...ours].join(" or "), there: [...theirs].join(" or ") }];
}

function compareFields(here: Shape, there: Shape, path: string): ShapeDifference[] {
  const names = new Set([...here.fields.keys(), ...there.fields.keys()]);
  return [...names].flatMap((name) => {
    const inner = path === "" ? name : `${path}.${name}`;
    const [ours, theirs] = [here.fields.get(name), there.fields.get(name)];
    if (ours !== undefined && theirs !== undefined) {
      return [
        ...comparePresence(ours, here, theirs, there, inner),
        ...compareShapes(ours.shape, theirs.shape, inner),
      ];
    }
    const difference = missingField(
      inner,
      presenceOf(ours, here),
      presenceOf(theirs, there),
      ours === undefined,
    );
    // S: an empty page has no cursor.
    const isContent =
      STATE_DEPENDENT_FIELDS.has(name) ||
      (name === "pagination" && (isEmptyPage(here) || isEmptyPage(there)));
    return [isContent ? { ...difference, kind: "sometimes" as const } : difference];
  });
}

function isEmptyPage({ fields }: Shape): boolean {
  return [...fields.values()].some(({ shape }) => shape.kinds.has("array") && shape.items === undefined);
}

type Presence = { readonly always: boolean; readonly text: string };

function presenceOf(field: ShapeField | undefined, { objects }: Shape): Presence {
  if (field === undefined) return { always: false, text: ABSENT };
  const always = field.seen === objects;
  return {
    always,
    text: always
      ? describeKinds(field.shape)
      : `${describeKinds(field.shape)}, in ${field.seen} of ${objects}`,
  };
}

function missingField(path: string, ours: Presence, theirs: Presence, isOurs: boolean): ShapeDifference {
  const always = ours.always || theirs.always;
  return {
    path,
    kind: always ? (isOurs ? "missing here" : "missing there") : "sometimes",
    here: ours.text,
    there: theirs.text,
  };
}

function comparePresence(
  ours: ShapeField,
  here: Shape,
  theirs: ShapeField,
  there: Shape,
  path: string,
): ShapeDifference[] {
  const [a, b] = [presenceOf(ours, here), presenceOf(theirs, there)];
  return a.always === b.always ? [] : [{ path, kind: "sometimes", here: a.text, there: b.text }];
}

/** The items of an empty list are unknown, so they are not compared. */
function compareContents(here: Shape | undefined, there: Shape | undefined, path: string): ShapeDifference[] {
  if (here !== undefined && there !== undefined) return compareShapes(here, there, path);
  if (here === undefined && there === undefined) return [];
  return [
    {
      path,
      kind: "not compared",
      here: here ? describeKinds(here) : "empty",
      there: there ? describeKinds(there) : "empty",
    },
  ];
}

function describeKinds({ kinds }: Shape): string {
  return [...kinds].join(" or ");
}

function areDisjoint(a: ReadonlySet<string>, b: ReadonlySet<string>): boolean {
  return ![...a].some((item) => b.has(item));
}

function areEqual(a: ReadonlySet<string>, b: ReadonlySet<string>): boolean {
  return a.size === b.size && [...a].every((item) => b.has(item));
}
