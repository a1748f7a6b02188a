// @ts-nocheck
import { useSignal } from "@preact/signals";

const SHOWN_MS = 1_500;

type CopyProps = {
  readonly text: string;
  readonly label: string;
  /** The text of the button. */
  readonly caption?: string;
};

/** A text with a button that copies it. */
export function CopyText({ text, label }: Omit<CopyProps, "caption">) {
  return (
    <span class="copy">
      <code>{text}</code>
      <CopyButton text={text} label={label} />
    </span>
  );
}

export function CopyButton({ text, label, caption = "Copy" }: CopyProps) {
  const isCopied = useSignal(false);
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    isCopied.value = true;
    setTimeout(() => {
      isCopied.value = false;
    }, SHOWN_MS);
  };
  return (
    <button
      type="button"
      class="quiet"
      aria-label={caption === "Copy" ? `Copy ${label}` : undefined}
      onClick={copy}
    >
      {isCopied.value ? "Copied" : caption}
    </button>
  );
}
