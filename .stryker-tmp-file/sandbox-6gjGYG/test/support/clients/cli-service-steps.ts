// @ts-nocheck
import type { CliState, CliStep } from "./cli-matrix.ts";

type ServiceStep = readonly [
  command: string,
  args?: readonly string[] | ((state: CliState) => readonly string[]),
  keep?: CliStep["keep"],
];

/** A command for a service of the project's default branch. Only the newer command lines have these. */
function serviceStep([command, args = [], keep]: ServiceStep): CliStep {
  return {
    command,
    args: (state) => [
      ...command.split(" "),
      ...(typeof args === "function" ? args(state) : args),
      ...["--project-id", state.project, "--branch", state.main],
    ],
    newer: true,
    ...(keep === undefined ? {} : { keep }),
  };
}

const GITHUB = ["--provider-id", "github"];
const DOMAIN = "https://shop.example";

/** Enables each service of a branch, reads it and changes it. */
export const SERVICES_ENABLED: readonly CliStep[] = (
  [
    ["neon-auth enable", ["--database-name", "neondb"]],
    ["neon-auth status"],
    ["neon-auth domain add", [DOMAIN]],
    ["neon-auth domain list"],
    ["neon-auth domain allow-localhost disable"],
    ["neon-auth domain allow-localhost enable"],
    ["neon-auth domain allow-localhost get"],
    ["neon-auth oauth-provider add", GITHUB],
    [
      "neon-auth oauth-provider update",
      [...GITHUB, "--oauth-client-id", "shop", "--oauth-client-secret", "secret"],
    ],
    ["neon-auth oauth-provider list"],
    ["neon-auth config email-password update", ["--disable-sign-up"]],
    ["neon-auth config email-password get"],
    [
      "neon-auth config email-provider update",
      [
        ...["--type", "standard", "--host", "smtp.example", "--port", "25", "--username", "shop"],
        ...["--password", "secret", "--sender-email", "shop@shop.example", "--sender-name", "Shop"],
      ],
    ],
    ["neon-auth config email-provider get"],
    ["neon-auth config organization update", ["--enabled=false"]],
    ["neon-auth config organization get"],
    ["neon-auth config webhook update", ["--enabled", "--url", `${DOMAIN}/hook`]],
    ["neon-auth config webhook get"],
    ["neon-auth plugins list"],
    ["neon-auth plugins get", ["organization"]],
    ["data-api create", ["--database", "neondb"]],
    ["data-api get", ["--database", "neondb"]],
    ["data-api update", ["--database", "neondb", "--db-max-rows", "5"]],
    ["data-api refresh-schema", ["--database", "neondb"]],
    ["buckets create", ["files"]],
    ["buckets list"],
    [
      "credentials create",
      ["--scope", "storage:read"],
      (output, state) => {
        state.credential = output.token_id;
      },
    ],
    ["credentials list"],
    ["functions list"],
  ] satisfies readonly ServiceStep[]
).map(serviceStep);

/** Disables and deletes what `SERVICES_ENABLED` created. */
export const SERVICES_DISABLED: readonly CliStep[] = (
  [
    ["credentials revoke", ({ credential }) => [credential]],
    ["buckets delete", ["files"]],
    ["data-api delete", ["--database", "neondb"]],
    ["neon-auth oauth-provider delete", GITHUB],
    ["neon-auth domain delete", [DOMAIN]],
    ["neon-auth disable"],
  ] satisfies readonly ServiceStep[]
).map(serviceStep);
