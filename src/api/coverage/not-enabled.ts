/**
 * Services of a branch that cannot be enabled here. Reading one is 404, as on the real platform before it is
 * enabled; every other operation of the service is 501.
 */
export const NOT_ENABLED: Readonly<Record<string, string>> = {
  getNeonAuth: "auth",
  getProjectBranchDataAPI: "the Data API",
};
