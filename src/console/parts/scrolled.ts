/** Calls `measure` at once, and whenever the element is scrolled or resized. Returns what ends this. */
export function onScrollOrResize(element: HTMLElement, measure: () => void): () => void {
  measure();
  const observer = new ResizeObserver(measure);
  observer.observe(element);
  element.addEventListener("scroll", measure, { passive: true });
  return () => {
    observer.disconnect();
    element.removeEventListener("scroll", measure);
  };
}
