import type { Cli } from "./cli-bundle.ts";
import { SERVICES_DISABLED, SERVICES_ENABLED } from "./cli-service-steps.ts";

/** Values from the output of earlier commands that later ones need. */
export type CliState = Record<
  "org" | "project" | "main" | "branch" | "key" | "snapshot" | "restored" | "past" | "credential",
  string
>;

export type CliStep = {
  /** Command as in the list of the client's commands. */
  readonly command: string;
  readonly args: (state: CliState) => readonly string[];
  /** Stores what later commands need. */
  // biome-ignore lint/suspicious/noExplicitAny: each command of the client prints its own shape
  readonly keep?: (output: any, state: CliState) => void;
  /** Only the newer command lines have it. */
  readonly newer?: true;
  /**
   * Present for commands that are also part of the short run. There they follow each other so closely that an operation
   * may still lock what a command changes.
   */
  readonly short?: true;
};

const VPC = "vpce-1234567890abcdef0";
const inProject = ({ project }: CliState) => ["--project-id", project];
const inOrganization = ({ org }: CliState) => ["--org-id", org, "--region-id", "aws-us-east-2"];
const onBranch = (state: CliState) => [...inProject(state), "--branch", state.branch];

/**
 * Every command that uses a served operation, one directly after the other. Operations of earlier commands
 * are still under way, so the client meets locks and has to retry.
 */
export const CLI_STEPS: readonly CliStep[] = [
  { command: "me", args: () => ["me"] },
  {
    command: "orgs list",
    args: () => ["orgs", "list"],
    keep: (output, state) => {
      state.org = output[0].id;
    },
  },
  {
    command: "projects create",
    args: () => ["projects", "create", "--name", "shop", "--region-id", "aws-us-east-2"],
    keep: (output, state) => {
      state.project = output.project.id;
    },
    short: true,
  },
  {
    command: "projects update",
    args: ({ project }) => ["projects", "update", project, "--name", "store"],
    short: true,
  },
  {
    command: "branches create",
    args: (state) => ["branches", "create", "--name", "dev", ...inProject(state)],
    keep: (output, state) => {
      state.branch = output.branch.id;
      state.main = output.branch.parent_id;
    },
    short: true,
  },
  {
    command: "roles create",
    args: (state) => ["roles", "create", "--name", "alice", ...onBranch(state)],
    short: true,
  },
  {
    command: "databases create",
    args: (state) => ["databases", "create", "--name", "app", "--owner-name", "alice", ...onBranch(state)],
    short: true,
  },
  { command: "projects list", args: () => ["projects", "list"] },
  { command: "projects get", args: ({ project }) => ["projects", "get", project] },
  { command: "roles list", args: (state) => ["roles", "list", ...onBranch(state)] },
  { command: "databases list", args: (state) => ["databases", "list", ...onBranch(state)] },
  {
    command: "connection-string",
    args: (state) => [
      ...["connection-string", state.branch, "--role-name", "alice", "--database-name", "app"],
      ...inProject(state),
    ],
  },
  {
    command: "databases delete",
    args: (state) => ["databases", "delete", "app", ...onBranch(state)],
    short: true,
  },
  { command: "roles delete", args: (state) => ["roles", "delete", "alice", ...onBranch(state)] },
  { command: "operations list", args: (state) => ["operations", "list", ...inProject(state)] },
  { command: "ip-allow add", args: (state) => ["ip-allow", "add", "192.0.2.1", ...inProject(state)] },
  { command: "ip-allow list", args: (state) => ["ip-allow", "list", ...inProject(state)] },
  { command: "ip-allow remove", args: (state) => ["ip-allow", "remove", "192.0.2.1", ...inProject(state)] },
  { command: "ip-allow reset", args: (state) => ["ip-allow", "reset", ...inProject(state)] },
  {
    command: "vpc endpoint assign",
    args: (state) => ["vpc", "endpoint", "assign", VPC, "--label", "office", ...inOrganization(state)],
  },
  { command: "vpc endpoint list", args: (state) => ["vpc", "endpoint", "list", ...inOrganization(state)] },
  {
    command: "vpc project restrict",
    args: (state) => ["vpc", "project", "restrict", VPC, "--label", "shop", ...inProject(state)],
  },
  { command: "vpc project list", args: (state) => ["vpc", "project", "list", ...inProject(state)] },
  {
    command: "vpc endpoint status",
    args: (state) => ["vpc", "endpoint", "status", VPC, ...inOrganization(state)],
  },
  { command: "vpc project remove", args: (state) => ["vpc", "project", "remove", VPC, ...inProject(state)] },
  {
    command: "vpc endpoint remove",
    args: (state) => ["vpc", "endpoint", "remove", VPC, ...inOrganization(state)],
  },
  { command: "branches list", args: (state) => ["branches", "list", ...inProject(state)] },
  {
    command: "branches get",
    args: (state) => ["branches", "get", "dev", ...inProject(state)],
    keep: (output, state) => {
      state.past = output.created_at;
    },
  },
  {
    command: "branches add-compute",
    args: (state) => ["branches", "add-compute", state.branch, ...inProject(state)],
  },
  {
    command: "branches reset",
    args: (state) => ["branches", "reset", state.branch, "--parent", ...inProject(state)],
    short: true,
  },
  {
    command: "branches restore",
    args: (state) => [
      ...["branches", "restore", state.branch, `^self@${state.past}`],
      ...["--preserve-under-name", "before", ...inProject(state)],
    ],
  },
  {
    command: "branches schema-diff",
    args: (state) => ["branches", "schema-diff", state.branch, "^parent", ...inProject(state)],
  },
  {
    command: "branches set-expiration",
    args: (state) => [
      ...["branches", "set-expiration", state.branch, "--expires-at"],
      ...[new Date(Date.parse(state.past) + 86_400_000).toISOString(), ...inProject(state)],
    ],
  },
  { command: "branches rename", args: (state) => ["branches", "rename", "dev", "next", ...inProject(state)] },
  {
    command: "branches set-default",
    args: (state) => ["branches", "set-default", state.main, ...inProject(state)],
  },
  {
    command: "api-keys create",
    args: () => ["api-keys", "create", "--name", "ci"],
    keep: (output, state) => {
      state.key = String(output.id);
    },
    newer: true,
  },
  { command: "api-keys list", args: () => ["api-keys", "list"], newer: true },
  { command: "api-keys revoke", args: ({ key }) => ["api-keys", "revoke", key], newer: true },
  { command: "api", args: ({ project }) => ["api", `/projects/${project}`], newer: true },
  {
    command: "snapshots create",
    args: (state) => ["snapshots", "create", "--branch", state.main, "--name", "first", ...inProject(state)],
    keep: (output, state) => {
      state.snapshot = output.id;
    },
    newer: true,
  },
  { command: "snapshots list", args: (state) => ["snapshots", "list", ...inProject(state)], newer: true },
  {
    command: "snapshots get",
    args: (state) => ["snapshots", "get", state.snapshot, ...inProject(state)],
    newer: true,
  },
  {
    command: "snapshots update",
    args: (state) => ["snapshots", "update", state.snapshot, "--name", "kept", ...inProject(state)],
    newer: true,
  },
  {
    command: "snapshots schedule set",
    args: (state) => [
      ...["snapshots", "schedule", "set", "--branch", state.main, "--frequency", "daily", "--hour", "3"],
      ...["--retention", "604800", ...inProject(state)],
    ],
    newer: true,
  },
  {
    command: "snapshots schedule get",
    args: (state) => ["snapshots", "schedule", "get", "--branch", state.main, ...inProject(state)],
    newer: true,
  },
  {
    command: "snapshots restore",
    args: (state) => [
      ...["snapshots", "restore", state.snapshot, "--name", "seen", "--target-branch", state.branch],
      ...inProject(state),
    ],
    keep: (output, state) => {
      state.restored = output.restored_branch.id;
    },
    newer: true,
  },
  {
    command: "snapshots finalize",
    args: (state) => ["snapshots", "finalize", state.restored, "--name", "replaced", ...inProject(state)],
    newer: true,
  },
  {
    command: "snapshots delete",
    args: (state) => ["snapshots", "delete", state.snapshot, ...inProject(state)],
    newer: true,
  },
  ...SERVICES_ENABLED,
  {
    command: "set-context",
    args: (state) => ["set-context", ...inProject(state), "--org-id", state.org],
  },
  { command: "link", args: () => ["link", "--yes", "--no-env-pull"], newer: true },
  { command: "checkout", args: () => ["checkout", "main", "--no-env-pull"], newer: true },
  { command: "diff", args: () => ["diff", "next"], newer: true },
  { command: "status", args: () => ["status"], newer: true },
  { command: "config status", args: () => ["config", "status"], newer: true },
  { command: "env pull", args: () => ["env", "pull"], newer: true },
  ...SERVICES_DISABLED,
  {
    command: "branches delete",
    args: (state) => ["branches", "delete", state.branch, ...inProject(state)],
    short: true,
  },
  { command: "projects delete", args: ({ project }) => ["projects", "delete", project], short: true },
  { command: "projects recover", args: ({ project }) => ["projects", "recover", project], short: true },
];

/** Commands that the matrix leaves out, by reason. */
export const CLI_LEFT_OUT: Readonly<Record<string, readonly RegExp[]>> = {
  "it uses the platform's websites": [/^(auth|open|ask|bootstrap|init|mcp|plugins)$/, /^(claim|skills) /],
  "it needs a Postgres": [/^psql$/, /^inspect /],
  "it works on local files": [/^profile /, /^git /],
  "it needs a policy file or functions": [/^config (plan|apply|init)$/, /^(deploy|dev)$/],
  "it needs operations that are refused": [
    /^neon-auth (user |config email-provider test$)/,
    /^(triggers|logs|buckets object) /,
    /^credentials (reveal|rotate)$/,
    /^functions (?!list$)/,
  ],
};

/** The clients with a full run, or the one with a short run. */
export const CLI_RUNS: readonly { readonly cli: Cli; readonly steps: readonly CliStep[] }[] =
  process.env["STANDIN_TEST_CLIS"] === "all"
    ? [
        { cli: "neonctl", steps: CLI_STEPS.filter(({ newer }) => newer === undefined) },
        { cli: "neon", steps: CLI_STEPS },
        { cli: "neonctl-newest", steps: CLI_STEPS },
      ]
    : [{ cli: "neonctl", steps: CLI_STEPS.filter(({ short }) => short) }];
