/** Why operations are refused, by their ids. The coverage page states them. */
export const REASONS: Readonly<Record<string, string>> = {
  getProjectAdvisorSecurityIssues: "The checks that the platform runs in the database are not public",
  transferNeonAuthProviderProject:
    "It would move the auth service to the caller's account at another provider",
  getProjectBranchAiGateway: "standin has no gateway and no models to which its address could lead",
  listProjectMembers: "The public document does not describe the roles of members in a project",
  setProjectMemberRole: "The public document does not describe the roles of members in a project",
  removeProjectMemberRole: "The public document does not describe the roles of members in a project",
};
