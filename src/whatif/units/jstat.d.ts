// The library ships no types. Only the functions in use are declared.
declare module "jstat" {
  const jStat: {
    readonly normal: {
      cdf(x: number, mean: number, deviation: number): number;
      inv(p: number, mean: number, deviation: number): number;
    };
    readonly studentt: {
      inv(p: number, degreesOfFreedom: number): number;
    };
    /** The regularized incomplete beta function. */
    ibeta(x: number, a: number, b: number): number;
    /** The logarithm of the gamma function. */
    gammaln(x: number): number;
  };
  export = jStat;
}
