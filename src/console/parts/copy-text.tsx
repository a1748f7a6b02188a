import { useSignal } from "@preact/signals";

const SHOWN_MS = 1_500;

/** A text with a button that copies it. */
export function CopyText({ text, label }: { readonly text: string; readonly label: string }) {
  const isCopied = useSignal(false);
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    isCopied.value = true;
    setTimeout(() => {
      isCopied.value = false;
    }, SHOWN_MS);
  };
  return (
    <span class="copy">
      <code>{text}</code>
      <button type="button" class="quiet" aria-label={`Copy ${label}`} onClick={copy}>
        {isCopied.value ? "Copied" : "Copy"}
      </button>
    </span>
  );
}
