import type { BranchCopy, EndpointCopy, ProjectCopy } from "./inventory.ts";

export type Fields = Readonly<Record<string, unknown>>;

/** A part of a thing that may be refused by itself: fields of a request, and what to call them. */
export type Part = { readonly what: string; readonly fields: Fields };

/** The bounds of a size go together. */
function sizeParts(fields: Fields): Part[] {
  const { autoscaling_limit_min_cu: min, autoscaling_limit_max_cu: max } = fields;
  if (typeof min !== "number" || typeof max !== "number") return [];
  return [{ what: `${min} to ${max} CU`, fields: { autoscaling_limit_min_cu: min, autoscaling_limit_max_cu: max } }];
}

export function endpointParts(copy: EndpointCopy): Part[] {
  const single = ["name", "suspend_timeout_seconds", "disabled", "pooler_enabled", "passwordless_access"] as const;
  return [...sizeParts(copy), ...single.flatMap((name) => partOf(name, copy[name])), ...nested("settings", copy.settings)];
}

export function projectParts(project: ProjectCopy): Part[] {
  const defaults = project.default_endpoint_settings ?? {};
  const { autoscaling_limit_min_cu: _min, autoscaling_limit_max_cu: _max, ...others } = defaults;
  const sizes = sizeParts(defaults).map(({ what, fields }) => ({
    what: `default size ${what}`,
    fields: { default_endpoint_settings: fields },
  }));
  return [
    ...partOf("history_retention_seconds", project.history_retention_seconds),
    ...nested("settings", project.settings),
    ...sizes,
    ...nested("default_endpoint_settings", others),
  ];
}

export function branchParts(branch: BranchCopy): Part[] {
  return [...(branch.protected === true ? partOf("protected", true) : []), ...partOf("expires_at", branch.expires_at)];
}

function partOf(name: string, value: unknown): Part[] {
  return value === null || value === undefined ? [] : [{ what: name, fields: { [name]: value } }];
}

function nested(name: string, fields: Fields | null | undefined): Part[] {
  return Object.entries(fields ?? {}).flatMap(([key, value]) =>
    value === null || value === undefined ? [] : [{ what: `${name}.${key}`, fields: { [name]: { [key]: value } } }],
  );
}

export function mergeAll(all: readonly Fields[]): Fields {
  const merged: Record<string, unknown> = {};
  for (const [key, value] of all.flatMap((fields) => Object.entries(fields))) {
    const known = merged[key];
    merged[key] = isObject(known) && isObject(value) ? mergeAll([known, value]) : value;
  }
  return merged;
}

/** Whether everything that is asked for is so already. */
export function contains(current: unknown, asked: unknown): boolean {
  if (!isObject(asked)) return JSON.stringify(current) === JSON.stringify(asked);
  return isObject(current) && Object.entries(asked).every(([key, value]) => contains(current[key], value));
}

function isObject(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
