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
  };
  export = jStat;
}
