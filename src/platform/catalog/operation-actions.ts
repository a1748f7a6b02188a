/** R: start_compute, apply_config, suspend_compute; S: the others. Only these actions are scheduled here. */
export const OPERATION_ACTIONS = [
  "create_timeline",
  "create_branch",
  "start_compute",
  "suspend_compute",
  "apply_config",
  "delete_timeline",
] as const;
export type OperationAction = (typeof OPERATION_ACTIONS)[number];
