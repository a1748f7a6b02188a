// @ts-nocheck
const ENTER_SCREEN = "\u001b[?1049h\u001b[?25l";
const LEAVE_SCREEN = "\u001b[?25h\u001b[?1049l";
const CLEAR = "\u001b[H\u001b[J";

/** A text that replaces the previous one. Without a terminal, prints each text that differs from the previous one. */
export function openScreen(): { readonly show: (text: string) => void; readonly close: () => void } {
  const isTerminal = process.stdout.isTTY;
  let shown = "";
  if (isTerminal) process.stdout.write(ENTER_SCREEN);
  return {
    show(text) {
      if (isTerminal) process.stdout.write(CLEAR + text);
      else if (text !== shown) process.stdout.write(text);
      shown = text;
    },
    close() {
      if (isTerminal) process.stdout.write(LEAVE_SCREEN);
    },
  };
}
