import { useEffect, useRef } from "preact/hooks";
import { attempt } from "../state/notices.ts";
import { type Field, question } from "../state/question.ts";

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
