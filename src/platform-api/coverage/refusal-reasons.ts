/** Why operations are refused, by their ids. The coverage page states them. */
export const REASONS: Readonly<Record<string, string>> = {
  getProjectAdvisorSecurityIssues: "The checks that the platform runs in the database are not public",
  transferNeonAuthProviderProject: "It ends at another provider, in the caller's account there",
  getProjectBranchAiGateway: "No gateway and no models are here that its address could lead to",
  listProjectMembers: "The roles of members in a project are not described by the public document",
  setProjectMemberRole: "The roles of members in a project are not described by the public document",
  removeProjectMemberRole: "The roles of members in a project are not described by the public document",
};
