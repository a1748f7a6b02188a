// The library has no types of its own; this is the part of it that is used here.
declare module "jstat" {
  const jStat: {
    readonly normal: {
      /** The share of a normal distribution that lies up to `x`. */
      cdf(x: number, mean: number, deviation: number): number;
    };
    readonly studentt: {
      /** The quantile `p` of Student's t with so many degrees of freedom. */
      inv(p: number, degreesOfFreedom: number): number;
    };
  };
  export = jStat;
}
