import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { onScrollOrResize } from "./scrolled.ts";

/** Rows that are rendered above and below those on screen, so that the keyboard reaches them. */
const AROUND = 15;

type VirtualListProps<Row> = {
  readonly rows: readonly Row[];
  /** The height of each row in pixels. */
  readonly rowHeight: number;
  readonly label: string;
  readonly render: (row: Row) => ComponentChildren;
};

/** A list that scrolls, of which only the rows on screen and some around them are rendered. */
export function VirtualList<Row>({ rows, rowHeight, label, render }: VirtualListProps<Row>) {
  const scroller = useRef<HTMLDivElement>(null);
  const first = useSignal(0);
  const count = useSignal(AROUND);
  useEffect(() => {
    const element = scroller.current;
    if (element === null) return;
    return onScrollOrResize(element, () => {
      first.value = Math.max(0, Math.floor(element.scrollTop / rowHeight) - AROUND);
      count.value = Math.ceil(element.clientHeight / rowHeight) + 2 * AROUND;
    });
  }, [first, count, rowHeight]);
  const begin = Math.min(first.value, Math.max(0, rows.length - count.value));
  const shown = rows.slice(begin, begin + count.value);
  const after = rows.length - begin - shown.length;
  return (
    <div class="virtual" ref={scroller}>
      <ul aria-label={label}>
        {begin > 0 && <li aria-hidden="true" style={{ height: `${begin * rowHeight}px` }} />}
        {shown.map(render)}
        {after > 0 && <li aria-hidden="true" style={{ height: `${after * rowHeight}px` }} />}
      </ul>
    </div>
  );
}
