/** What the Postgres of computes has done with data, in bytes. */
export type DataTraffic = {
  /** Log that was written. */
  readonly writtenBytes: number;
  /** Sent to clients. */
  readonly transferredBytes: number;
};

/** Totals of which some have no traffic. */
type WithTraffic = { readonly data?: DataTraffic };

/** The sum, as a property; absent if there is no traffic. */
export function sumOfTraffic(one: WithTraffic, other: WithTraffic): WithTraffic {
  if (one.data === undefined) return propertyOf(other.data);
  if (other.data === undefined) return propertyOf(one.data);
  return {
    data: {
      writtenBytes: one.data.writtenBytes + other.data.writtenBytes,
      transferredBytes: one.data.transferredBytes + other.data.transferredBytes,
    },
  };
}

/** What `total` has in addition to `before`, as a property; absent if there is none. */
export function trafficSince(total: WithTraffic, before: WithTraffic): WithTraffic {
  if (total.data === undefined || before.data === undefined) return propertyOf(total.data);
  const data = {
    writtenBytes: total.data.writtenBytes - before.data.writtenBytes,
    transferredBytes: total.data.transferredBytes - before.data.transferredBytes,
  };
  return data.writtenBytes === 0 && data.transferredBytes === 0 ? {} : { data };
}

function propertyOf(data: DataTraffic | undefined): WithTraffic {
  return data === undefined ? {} : { data };
}
