import type { Compute } from "../../model/compute.ts";

/**
 * The fields that change while a compute runs. All optional fields are listed, so a new one cannot be missed.
 */
type ComputeRuntime = { readonly [Key in "phase" | "updatedAt"]: Compute[Key] } & {
  readonly [Key in Exclude<OptionalKey<Compute>, "name">]: Compute[Key];
};
type OptionalKey<T> = { [Key in keyof T]-?: object extends Pick<T, Key> ? Key : never }[keyof T];

/**
 * The row with new runtime fields. Written out field by field, because these rows are replaced most often: a
 * spread of rows with different shapes is ten times as slow.
 */
export function withRuntime(
  compute: Compute,
  { phase, waiting, lastActiveAt, startedAt, suspendedAt, updatedAt }: ComputeRuntime,
): Compute {
  return {
    id: compute.id,
    number: compute.number,
    projectId: compute.projectId,
    branchId: compute.branchId,
    regionId: compute.regionId,
    type: compute.type,
    name: compute.name,
    range: compute.range,
    suspendTimeoutSeconds: compute.suspendTimeoutSeconds,
    settings: compute.settings,
    poolerEnabled: compute.poolerEnabled,
    passwordlessAccess: compute.passwordlessAccess,
    disabled: compute.disabled,
    provisioner: compute.provisioner,
    phase,
    waiting,
    lastActiveAt,
    startedAt,
    suspendedAt,
    createdAt: compute.createdAt,
    updatedAt,
  };
}

/** The runtime fields of a row. */
export function runtimeOf({
  phase,
  waiting,
  lastActiveAt,
  startedAt,
  suspendedAt,
  updatedAt,
}: Compute): ComputeRuntime {
  return { phase, waiting, lastActiveAt, startedAt, suspendedAt, updatedAt };
}
