/** S: `suspend_timeout_seconds` is 0 for the default of the platform and -1 for never. */
export const DEFAULT_SUSPEND_TIMEOUT = 0;
export const NEVER_SUSPEND = -1;

/** The delay in seconds that a setting stands for. `defaultS`: the default of the platform. */
export function delayOfSuspendTimeout(suspendTimeoutSeconds: number, defaultS: number): number | "never" {
  if (suspendTimeoutSeconds === NEVER_SUSPEND) return "never";
  return suspendTimeoutSeconds === DEFAULT_SUSPEND_TIMEOUT ? defaultS : suspendTimeoutSeconds;
}

/** The setting for a delay in seconds. */
export function suspendTimeoutOfDelay(delay: number | "never"): number {
  return delay === "never" ? NEVER_SUSPEND : delay;
}
