import { suspendTimeoutOfDelay } from "../../../platform/catalog/suspend-timeout.ts";
import type { SuspendDelay } from "../../../whatif/gap-curve/delay.ts";
import type { ComputeDelay } from "./saved-answer.ts";

export const CALL_FORMATS = ["curl", "neonctl", "terraform"] as const;
export type CallFormat = (typeof CALL_FORMATS)[number];

/** A compute that gets a delay. Without ids of a server, texts contain variables. */
export type DelayTarget = ComputeDelay & {
  readonly projectId?: string | undefined;
  readonly branchId?: string | undefined;
  readonly type?: string | undefined;
};

export function updateBody(delay: SuspendDelay) {
  return { endpoint: { suspend_timeout_seconds: suspendTimeoutOfDelay(delay) } };
}

/** Shell commands or Terraform resources that set the delays. */
export function callText(format: CallFormat, targets: readonly DelayTarget[]): string {
  if (format === "terraform") return terraformText(targets);
  const isResolved = targets.every(({ projectId }) => projectId !== undefined);
  const variables = [
    "NEON_API_HOST (ends in /api/v2)",
    "NEON_API_KEY",
    ...(isResolved ? [] : ["PROJECT_ID"]),
  ];
  return lines([
    `# Set ${variables.slice(0, -1).join(", ")} and ${variables.at(-1)}.`,
    ...targets.map(format === "curl" ? curlCommand : neonctlCommand),
  ]);
}

function curlCommand({ compute, delay, projectId }: DelayTarget): string {
  return [
    `curl -fsS -X PATCH "$NEON_API_HOST/projects/${projectId ?? "$PROJECT_ID"}/endpoints/${compute}"`,
    `  -H "Authorization: Bearer $NEON_API_KEY" -H "Content-Type: application/json"`,
    `  -d '${JSON.stringify(updateBody(delay))}'`,
  ].join(" \\\n");
}

/** C: the commands about branches set a delay only for new computes; `api`, from release 5 on, changes one. */
function neonctlCommand({ compute, delay, projectId }: DelayTarget): string {
  return `neonctl api "/projects/${projectId ?? "$PROJECT_ID"}/endpoints/${compute}" -X PATCH -F endpoint.suspend_timeout_seconds=${suspendTimeoutOfDelay(delay)}`;
}

/** C: resource `neon_endpoint` of the public provider; an `import` block adopts an existing compute. */
function terraformText(targets: readonly DelayTarget[]): string {
  const hasProjects = targets.every(({ projectId }) => projectId !== undefined);
  const hasBranches = targets.every(({ branchId }) => branchId !== undefined);
  return lines([
    ...(hasProjects ? [] : ['variable "project_id" {\n  type = string\n}\n']),
    ...(hasBranches ? [] : ['variable "branch_ids" {\n  type = map(string)\n}\n']),
    targets.map(terraformResource).join("\n\n"),
  ]);
}

function terraformResource({ compute, delay, projectId, branchId, type }: DelayTarget): string {
  return [
    "import {",
    `  to = neon_endpoint.${compute}`,
    `  id = "${compute}"`,
    "}",
    "",
    `resource "neon_endpoint" "${compute}" {`,
    `  project_id              = ${projectId === undefined ? "var.project_id" : `"${projectId}"`}`,
    `  branch_id               = ${branchId === undefined ? `var.branch_ids["${compute}"]` : `"${branchId}"`}`,
    ...(type === undefined ? [] : [`  type                    = "${type}"`]),
    `  suspend_timeout_seconds = ${suspendTimeoutOfDelay(delay)}`,
    "}",
  ].join("\n");
}

function lines(parts: readonly string[]): string {
  return `${parts.join("\n")}\n`;
}
