// @ts-nocheck
import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";

const ROWS_PER_STEP = 40;

type LongListProps<Row> = {
  readonly rows: readonly Row[];
  readonly render: (rows: readonly Row[]) => ComponentChildren;
};

/** Renders the first rows of a list, and more of them each time its end is scrolled into view. */
export function LongList<Row>({ rows, render }: LongListProps<Row>) {
  const count = useSignal(ROWS_PER_STEP);
  const end = useRef<HTMLDivElement>(null);
  const isWhole = rows.length <= count.value;
  useEffect(() => {
    if (end.current === null) return;
    const observer = new IntersectionObserver((entries) => {
      if (entries.some(({ isIntersecting }) => isIntersecting)) count.value += ROWS_PER_STEP;
    });
    observer.observe(end.current);
    return () => observer.disconnect();
  }, [count, count.value, isWhole]);
  return (
    <>
      {render(isWhole ? rows : rows.slice(0, count.value))}
      {!isWhole && <div class="list-end" ref={end} />}
    </>
  );
}
