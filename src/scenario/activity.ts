/** What a client may do to a compute. */
export const activityKinds = ["query", "transaction", "connect", "disconnect"] as const;
