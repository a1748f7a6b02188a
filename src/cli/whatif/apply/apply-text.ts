import { suspendTimeoutOfDelay } from "../../../platform/catalog/suspend-timeout.ts";
import { delayText, money, plural, signed } from "../../../whatif/units/number-format.ts";
import { shellQuote } from "../manifest.ts";
import type { ServerTargets } from "./apply-delays.ts";
import { CALL_FORMATS, type CallFormat, callText, type DelayTarget } from "./delay-calls.ts";
import { type DelayChanges, dollarsAfter } from "./delay-changes.ts";
import type { PreviousDelay } from "./revert-file.ts";

/** The calls, after what they cost and what they omit. Comments, so that a shell and Terraform accept them. */
export function planText(
  changes: DelayChanges,
  targets: readonly DelayTarget[],
  format?: CallFormat,
): string {
  const notes = [billText(changes), ...retainedLines(changes)];
  if (targets.length === 0) return `${comments(["No delay is to be changed.", ...retainedLines(changes)])}\n`;
  return `${comments(notes)}\n${callsText(targets, format)}`;
}

/** In one format, or in all of them. */
export function callsText(targets: readonly DelayTarget[], format?: CallFormat): string {
  if (format !== undefined) return callText(format, targets);
  return CALL_FORMATS.map((each) => `${each}:\n\n${callText(each, targets)}`).join("\n");
}

export function planJson(changes: DelayChanges, targets: readonly DelayTarget[]) {
  return { ...changesJson(changes), calls: targets.map(callOf) };
}

export function callOf({ compute, delay, projectId }: DelayTarget) {
  return {
    compute,
    project: projectId ?? null,
    delay_s: delay,
    suspend_timeout_seconds: suspendTimeoutOfDelay(delay),
  };
}

/** `isSet`: whether the compute has the delay of the answer afterwards. */
export function changesJson(changes: DelayChanges, isSet?: (compute: string) => boolean) {
  return {
    delays: changes.set,
    plan: changes.plan,
    bill: {
      before_dollars_per_month: changes.dollarsBefore,
      after_dollars_per_month: dollarsAfter(changes, isSet) ?? null,
    },
    retained: changes.retained.map(({ compute, delay, reason, gainPercent, marginPercent }) => ({
      compute,
      delay_s: delay,
      reason,
      gain_percent: gainPercent,
      margin_95: marginPercent,
    })),
  };
}

export function serverJson(to: string, dryRun: boolean, { changed, unchanged, missing }: ServerTargets) {
  return {
    api_url: to,
    dry_run: dryRun,
    changed: changed.map((target) => ({
      ...callOf(target),
      previous_suspend_timeout_seconds: target.currentS ?? null,
    })),
    unchanged,
    not_found: missing,
  };
}

/** `retained`: the number of computes that keep their delay. */
export function serverLines(
  to: string,
  dryRun: boolean,
  targets: ServerTargets,
  retained?: number,
): string[] {
  const { changed, unchanged, missing } = targets;
  const counts = [
    `${dryRun ? "would change" : "changed"} ${plural(changed.length, "compute")}`,
    `${unchanged.length} already set`,
    `${missing.length} not found`,
    ...(retained === undefined || retained === 0 ? [] : [`${retained} without a clear gain`]),
  ];
  return [
    `${to}: ${counts.join(", ")}`,
    ...changed.map(
      ({ compute, currentS, delay }) =>
        `${compute}  ${settingText(currentS)} → ${settingText(suspendTimeoutOfDelay(delay))}`,
    ),
    ...missing.map((compute) => `${compute}  not found`),
  ];
}

export function retainedLines({ retained }: DelayChanges): string[] {
  return retained.map(({ compute, text }) => `${compute}  ${text}`);
}

export function billText(changes: DelayChanges, isSet?: (compute: string) => boolean): string {
  const { dollarsBefore } = changes;
  const after = dollarsAfter(changes, isSet);
  const before = `Compute time of the answer: ${money(dollarsBefore)} a month before`;
  if (after === undefined) return `${before}, not known after.`;
  return `${before}, ${money(after)} after (${signed(after - dollarsBefore, money)}).`;
}

/** Computes whose delay is not the one that was set, nor the one before. */
export function changedSinceLines(
  { changed }: ServerTargets,
  previous: ReadonlyMap<string, PreviousDelay>,
): string[] {
  return changed.flatMap(({ compute, currentS }) => {
    const set = previous.get(compute)?.set_suspend_timeout_seconds;
    return set === currentS
      ? []
      : [
          `${compute}  was changed to ${settingText(currentS)} after whatif apply had set ${settingText(set)}`,
        ];
  });
}

/** Lists the changes; in a dry run also the calls. */
export function changesText(lines: readonly string[], dryRun: boolean, { changed }: ServerTargets): string {
  const text = `${[...lines, ...(dryRun ? ["dry run: nothing was changed"] : [])].join("\n")}\n`;
  return dryRun && changed.length > 0 ? `${text}\n${callsText(changed)}` : text;
}

export function revertCommand(file: string, to: string): string {
  return `standin whatif apply --revert ${shellQuote(file)} --to ${shellQuote(to)}`;
}

function settingText(seconds: number | undefined): string {
  if (seconds === undefined || seconds === 0) return "default";
  return delayText(seconds < 0 ? "never" : seconds);
}

function comments(lines: readonly string[]): string {
  return lines.map((line) => `# ${line}`).join("\n");
}
