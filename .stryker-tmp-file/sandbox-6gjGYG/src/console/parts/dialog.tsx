// @ts-nocheck
import { signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { attempt } from "../state/notices.ts";

type Field = {
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

const question = signal<Question | undefined>(undefined);

/** Asks the user in a dialog. */
export function ask(current: Question): void {
  question.value = current;
}

export function Dialog() {
  const element = useRef<HTMLDialogElement>(null);
  const current = question.value;
  useEffect(() => {
    if (current === undefined) element.current?.close();
    else if (element.current?.open === false) element.current.showModal();
  }, [current]);
  const onSubmit = async (event: SubmitEvent) => {
    event.preventDefault();
    if (current === undefined) return;
    const data = new FormData(event.currentTarget as HTMLFormElement);
    const values = Object.fromEntries([...data].map(([name, value]) => [name, String(value).trim()]));
    const done = await attempt(async () => {
      await current.onSubmit(values);
      return true;
    });
    // The action may have asked the next question.
    if (done === true && question.value === current) question.value = undefined;
  };
  return (
    <dialog
      ref={element}
      aria-labelledby="dialog-title"
      onClose={() => {
        question.value = undefined;
      }}
    >
      {current && (
        <form onSubmit={onSubmit} key={current.title}>
          <h2 id="dialog-title">{current.title}</h2>
          {current.text && <div class="dialog-text">{current.text}</div>}
          {current.fields?.map((field) => (
            <FieldInput key={field.name} field={field} />
          ))}
          <div class="buttons">
            <button type="button" onClick={() => element.current?.close()}>
              Cancel
            </button>
            <button type="submit" class={current.isDangerous ? "danger" : "primary"}>
              {current.action}
            </button>
          </div>
        </form>
      )}
    </dialog>
  );
}

function FieldInput({ field }: { readonly field: Field }) {
  const { name, label, value = "", placeholder, hint, isRequired = false, isLong = false, choices } = field;
  const shared = {
    id: `field-${name}`,
    name,
    required: isRequired,
    "aria-describedby": hint && `hint-${name}`,
  };
  return (
    <div class="field">
      <label for={shared.id}>{label}</label>
      {choices !== undefined ? (
        <select {...shared} defaultValue={value}>
          {choices.map((choice) => (
            <option key={choice.value} value={choice.value}>
              {choice.label}
            </option>
          ))}
        </select>
      ) : isLong ? (
        <textarea {...shared} rows={8} spellcheck={false} placeholder={placeholder} defaultValue={value} />
      ) : (
        <input
          {...shared}
          autocomplete="off"
          spellcheck={false}
          placeholder={placeholder}
          defaultValue={value}
        />
      )}
      {hint && <small id={`hint-${name}`}>{hint}</small>}
    </div>
  );
}
