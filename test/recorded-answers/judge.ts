import { recordActivity } from "../support/double/compute.ts";
import { API_KEY, createDouble, type Double, type DoubleOptions } from "../support/double/double.ts";
import { type Format, hasFormat } from "./formats.ts";
import type { RecordedCall, Recording } from "./recordings.ts";

/** What differs between a recorded answer and that of a server. */
export type JudgedCall = {
  readonly recording: Recording;
  readonly call: RecordedCall;
  /** Fields that the answer lacks, has in another format, or has although the recorded answer lacks them. */
  readonly differences: readonly string[];
  /** Fields that no recorded answer has at this place, with `[]` for each item of a list. */
  readonly unrecorded: readonly string[];
  readonly status: number;
  readonly body: unknown;
};

type Ids = Record<string, string>;

/** Repeats the calls of a recording in a new world, at 2024-01-25 and with the account's plan. */
export async function judge(recording: Recording, options: DoubleOptions): Promise<JudgedCall[]> {
  const double = await createDouble({
    startAt: Date.parse("2024-01-25T15:57:46Z"),
    plan: "free",
    ...options,
  });
  const ids: Ids = {};
  if (recording.before !== undefined) await prepareProject(double, ids, recording.before);
  const judged: JudgedCall[] = [];
  for (const call of recording.calls) {
    const path = call.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => ids[name] ?? `no-${name}`);
    const answer = await answerOf(double, call, path);
    Object.assign(ids, idsIn(answer.body));
    judged.push({
      recording,
      call,
      differences: differencesOf(call, answer),
      unrecorded: fieldsOf(answer.body).filter((field) => !recordedFields(call).has(field)),
      status: answer.status,
      body: answer.body,
    });
  }
  await double.close();
  return judged;
}

/** As clients get it: `double.api` adds the reason to the body of an error. */
async function answerOf(double: Double, { method, body }: RecordedCall, path: string) {
  const response = await double.fetch(
    new Request(`http://localhost/api/v2${path}`, {
      method,
      headers: { Authorization: `Bearer ${API_KEY}`, "Content-Type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    }),
  );
  return { status: response.status, body: (await response.json()) as unknown };
}

async function prepareProject(double: Double, ids: Ids, kind: "project" | "active project"): Promise<void> {
  const { body } = await double.api("POST", "/projects", { project: { name: "earlier" } });
  Object.assign(ids, idsIn(body));
  if (kind === "project") return;
  await double.advance("1m");
  await recordActivity(double, ids["endpoint_id"] ?? "");
  await double.advance("90m");
}

/** The path parameters that later calls take from this answer. */
function idsIn(body: unknown): Ids {
  const found: readonly (readonly [string, unknown])[] = [
    ["key_id", "key" in Object(body) ? valueAt(body, "id") : undefined],
    ["project_id", valueAt(body, "project.id") ?? valueAt(body, "projects[0].id")],
    ["branch_id", valueAt(body, "branch.id") ?? valueAt(body, "branches[0].id")],
    ["endpoint_id", valueAt(body, "endpoints[0].id")],
    ["operation_id", valueAt(body, "operations[0].id")],
    ["role_name", valueAt(body, "roles[0].name")],
  ];
  return Object.fromEntries(
    found.flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]])),
  );
}

/** Exported for the test of the judge itself. */
export function differencesOf(
  { status, fields, absent = [] }: Pick<RecordedCall, "status" | "fields" | "absent">,
  answer: { readonly status: number; readonly body: unknown },
): string[] {
  if (answer.status !== status) return [`status: ${answer.status} instead of ${status}`];
  return [
    ...Object.entries(fields).flatMap(([path, format]) => wrongValues(answer.body, path, format)),
    ...absent
      .filter((path) => valueAt(answer.body, path) !== undefined)
      .map((path) => `${path}: not in the recorded answer`),
  ];
}

function wrongValues(body: unknown, path: string, format: Format): string[] {
  const values = valuesAt(body, path);
  if (values.length === 0) return [`${path}: the list is empty`];
  const wrong = values.find((value) => !hasFormat(value, format));
  const isRight = values.every((value) => hasFormat(value, format));
  return isRight ? [] : [`${path}: ${JSON.stringify(wrong) ?? "absent"}`];
}

function valueAt(body: unknown, path: string): unknown {
  return valuesAt(body, path)[0];
}

/** The values at a path: one for each item of a list that the path names with `[]`. */
function valuesAt(body: unknown, path: string): unknown[] {
  return path.split(/\.|(?=\[)/).reduce<unknown[]>(
    (values, step) => {
      if (step === "") return values;
      if (step === "[]") return values.flatMap((value) => (Array.isArray(value) ? value : [undefined]));
      const name = step.replace(/^\[(\d+)\]$/, "$1");
      return values.map((value) => (value as Record<string, unknown> | null | undefined)?.[name]);
    },
    [body],
  );
}

/** The paths of all values in an answer that are not objects or lists with content. */
function fieldsOf(value: unknown, place = ""): string[] {
  const isEmpty = typeof value !== "object" || value === null || Object.keys(value).length === 0;
  if (isEmpty) return place === "" ? [] : [place];
  const paths = Object.entries(value).flatMap(([name, part]) =>
    fieldsOf(part, Array.isArray(value) ? `${place}[]` : place === "" ? name : `${place}.${name}`),
  );
  return [...new Set(paths)];
}

function recordedFields({ fields }: RecordedCall): ReadonlySet<string> {
  return new Set(Object.keys(fields).map((path) => path.replaceAll(/\[\d+\]/g, "[]")));
}
