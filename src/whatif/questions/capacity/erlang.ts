/**
 * Share of arrivals that are lost because all `servers` are busy and none waits (M/G/c/c). `offered` is the
 * load: arrivals per service time. Uses the recursion `B_k = a·B_{k−1} / (k + a·B_{k−1})`, which neither
 * overflows nor cancels.
 */
export function erlangB(servers: number, offered: number): number {
  check(servers, offered);
  let blocked = 1;
  for (let k = 1; k <= servers; k += 1) blocked = (offered * blocked) / (k + offered * blocked);
  return blocked;
}

/**
 * Share of arrivals that wait when none gives up (M/M/c); 1 if the load is at least the number of servers.
 */
export function erlangC(servers: number, offered: number): number {
  if (offered >= servers) return 1;
  const blocked = erlangB(servers, offered);
  return blocked / (1 - (offered / servers) * (1 - blocked));
}

/** Mean wait of all arrivals, in service times; infinite if the load is at least the number of servers. */
export function meanWait(servers: number, offered: number): number {
  return offered >= servers ? Number.POSITIVE_INFINITY : erlangC(servers, offered) / (servers - offered);
}

function check(servers: number, offered: number): void {
  if (!Number.isInteger(servers) || servers < 0)
    throw new RangeError(`servers: expected a whole number of at least 0, got ${servers}`);
  if (!(offered >= 0)) throw new RangeError(`offered: expected a number of at least 0, got ${offered}`);
}
