/** One part of `shop/main/replica-1`. */
// @ts-nocheck

export const LABEL_PATTERN = /^[a-z0-9][a-z0-9-]{0,39}$/;
export const LABEL_RULE = "must be 1 to 40 characters of a-z, 0-9 and -, and start with a letter or a digit";
const FULL_LABEL = /^[a-z0-9][a-z0-9-]*(\/[a-z0-9][a-z0-9-]*){0,2}$/;

export type LabelKind = "account" | "project" | "branch" | "compute";

/** A resource of the world and its label. */
export type LabelledResource = {
  readonly kind: LabelKind;
  readonly label: string;
  /** For an account, the id of its organization's account. */
  readonly id: string;
  readonly account: string;
};

/** The resources of a world by label. Computes that match a wildcard keep the order of the file. */
export class Labels {
  readonly #byLabel = new Map<string, LabelledResource>();
  readonly #byId = new Map<string, LabelledResource>();

  add(labelled: LabelledResource): void {
    this.#byLabel.set(labelled.label, labelled);
    this.#byId.set(labelled.id, labelled);
  }

  get(label: string): LabelledResource | undefined {
    return this.#byLabel.get(label);
  }

  /** The label of an id, or the id itself when it has none. */
  labelOf(id: string): string {
    return this.#byId.get(id)?.label ?? id;
  }

  all(): readonly LabelledResource[] {
    return [...this.#byLabel.values()];
  }

  /** The computes that a label selects: `shop/main` selects its first read-write compute, `fleet-*` many. */
  computes(pattern: string): readonly LabelledResource[] {
    const exact = this.#byLabel.get(pattern);
    if (exact?.kind === "compute") return [exact];
    const depth = pattern.split("/").length;
    const matches = patternMatcher(pattern);
    const found = new Map<string, LabelledResource>();
    for (const resource of this.#byLabel.values()) {
      if (resource.kind !== "compute" || !matches(resource.label.split("/").slice(0, depth).join("/")))
        continue;
      const branch = depth === 3 ? resource.label : resource.label.slice(0, resource.label.lastIndexOf("/"));
      if (!found.has(branch)) found.set(branch, resource);
    }
    return [...found.values()];
  }
}

function patternMatcher(pattern: string): (label: string) => boolean {
  if (!pattern.includes("*")) return (label) => label === pattern;
  const expression = new RegExp(`^${pattern.replaceAll("*", "[a-z0-9-]*")}$`);
  return (label) => expression.test(label);
}

/** Whether a text has the form of a label; wildcards are allowed. */
export function isLabel(text: string): boolean {
  return FULL_LABEL.test(text.replaceAll("*", "x"));
}
