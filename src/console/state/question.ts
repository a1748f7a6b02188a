import { signal } from "@preact/signals";
import type { ComponentChildren } from "preact";

export type Field = {
  readonly name: string;
  readonly label: string;
  readonly value?: string;
  readonly placeholder?: string;
  readonly hint?: string;
  readonly isRequired?: boolean;
  readonly isLong?: boolean;
  readonly choices?: readonly { readonly value: string; readonly label: string }[];
};

type Question = {
  readonly title: string;
  readonly text?: ComponentChildren;
  readonly fields?: readonly Field[];
  /** The name of what the form does, such as "Create project". */
  readonly action: string;
  readonly isDangerous?: boolean;
  /** Rejects with what is wrong with the input; the dialog stays open then. */
  readonly onSubmit: (values: Record<string, string>) => Promise<unknown>;
};

export const question = signal<Question | undefined>(undefined);

/** Asks the user in a dialog. */
export function ask(current: Question): void {
  question.value = current;
}
