import { useLayoutEffect, useRef } from "preact/hooks";

/** A drawing that the server made. The policy of the page runs no script in it. */
export function Drawing({ svg, class: className }: { readonly svg: string; readonly class: string }) {
  const frame = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const { documentElement } = new DOMParser().parseFromString(svg, "image/svg+xml");
    frame.current?.replaceChildren(document.importNode(documentElement, true));
  }, [svg]);
  return <div class={className} ref={frame} />;
}
