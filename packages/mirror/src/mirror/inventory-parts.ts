import type { BranchCopy, EndpointCopy, ProjectCopy } from "./inventory.ts";

export type JsonFields = Readonly<Record<string, unknown>>;

/** Fields of a request that may be rejected on their own, and their name for the user. */
export type RequestPart = { readonly what: string; readonly fields: JsonFields };

/** Both limits of a size form one part: one alone may be invalid. */
function sizeParts(fields: JsonFields): RequestPart[] {
  const { autoscaling_limit_min_cu: min, autoscaling_limit_max_cu: max } = fields;
  if (typeof min !== "number" || typeof max !== "number") return [];
  return [
    { what: `${min} to ${max} CU`, fields: { autoscaling_limit_min_cu: min, autoscaling_limit_max_cu: max } },
  ];
}

export function endpointParts(copy: EndpointCopy): RequestPart[] {
  return [
    ...sizeParts(copy),
    ...partOf("suspend_timeout_seconds", copy.suspend_timeout_seconds),
    ...Object.entries(copy.chosen).flatMap(([name, value]) => partOf(name, value)),
    ...nestedParts("settings", copy.settings),
  ];
}

export function projectParts(project: ProjectCopy): RequestPart[] {
  const defaults = project.default_endpoint_settings ?? {};
  const { autoscaling_limit_min_cu: _min, autoscaling_limit_max_cu: _max, ...others } = defaults;
  const sizes = sizeParts(defaults).map(({ what, fields }) => ({
    what: `default size ${what}`,
    fields: { default_endpoint_settings: fields },
  }));
  return [
    ...partOf("history_retention_seconds", project.history_retention_seconds),
    ...nestedParts("settings", project.settings),
    ...sizes,
    ...nestedParts("default_endpoint_settings", others),
  ];
}

export function branchParts(branch: BranchCopy): RequestPart[] {
  return [
    ...(branch.protected === true ? partOf("protected", true) : []),
    ...partOf("expires_at", branch.expires_at),
  ];
}

function partOf(name: string, value: unknown): RequestPart[] {
  return value === null || value === undefined ? [] : [{ what: name, fields: { [name]: value } }];
}

function nestedParts(name: string, fields: JsonFields | null | undefined): RequestPart[] {
  return Object.entries(fields ?? {}).flatMap(([key, value]) =>
    value === null || value === undefined
      ? []
      : [{ what: `${name}.${key}`, fields: { [name]: { [key]: value } } }],
  );
}

export function deepMerge(all: readonly JsonFields[]): JsonFields {
  const merged: Record<string, unknown> = {};
  for (const [key, value] of all.flatMap((fields) => Object.entries(fields))) {
    const known = merged[key];
    merged[key] = isObject(known) && isObject(value) ? deepMerge([known, value]) : value;
  }
  return merged;
}

/** Whether `current` already has all the expected fields with their values. */
export function contains(current: unknown, expected: unknown): boolean {
  if (!isObject(expected)) return JSON.stringify(current) === JSON.stringify(expected);
  return isObject(current) && Object.entries(expected).every(([key, value]) => contains(current[key], value));
}

function isObject(value: unknown): value is JsonFields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
