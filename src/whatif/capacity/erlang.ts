/**
 * The share of callers that find all `servers` busy where nobody waits (M/G/c/c): `offered` is their load, arrivals per service time.
 * By the recursion `B_k = a·B_{k−1} / (k + a·B_{k−1})`, which neither overflows nor cancels.
 */
export function erlangB(servers: number, offered: number): number {
  check(servers, offered);
  let blocked = 1;
  for (let k = 1; k <= servers; k += 1) blocked = (offered * blocked) / (k + offered * blocked);
  return blocked;
}

/** The share of callers that have to wait where all of them are patient (M/M/c); 1 where the load is as much as the servers or more. */
export function erlangC(servers: number, offered: number): number {
  if (offered >= servers) return 1;
  const blocked = erlangB(servers, offered);
  return blocked / (1 - (offered / servers) * (1 - blocked));
}

/** The mean wait of all callers, in service times; infinite where the load is as much as the servers or more. */
export function meanWait(servers: number, offered: number): number {
  return offered >= servers ? Number.POSITIVE_INFINITY : erlangC(servers, offered) / (servers - offered);
}

function check(servers: number, offered: number): void {
  if (!Number.isInteger(servers) || servers < 0)
    throw new RangeError(`servers: ${servers} must be a whole number, at least 0`);
  if (!(offered >= 0)) throw new RangeError(`offered: ${offered} must be a number, at least 0`);
}
