const ARITY = 4;

/**
 * The next event of each of a fixed number of nodes, earliest first: an indexed heap of four branches on typed arrays. A node without
 * one is at infinity. Of events at one instant the node with the lowest number comes first, so the order depends on nothing else.
 */
export class EventHeap {
  /** By position in the heap: the instant, and the node. */
  readonly #at: Float64Array;
  readonly #node: Int32Array;
  /** By node: its position. */
  readonly #position: Int32Array;

  constructor(nodes: number) {
    if (nodes < 1) throw new RangeError("nodes: a heap has at least one");
    this.#at = new Float64Array(nodes).fill(Number.POSITIVE_INFINITY);
    this.#node = Int32Array.from({ length: nodes }, (_, index) => index);
    this.#position = this.#node.slice();
  }

  /** The node of the earliest event. */
  get first(): number {
    return this.#node[0] as number;
  }

  /** When that is. */
  get firstAt(): number {
    return this.#at[0] as number;
  }

  atOf(node: number): number {
    return this.#at[this.#position[node] as number] as number;
  }

  /** Moves the event of a node to another instant, be it earlier or later. */
  set(node: number, at: number): void {
    const position = this.#position[node] as number;
    const before = this.#at[position] as number;
    if (at < before) this.#rise(position, node, at);
    else if (at > before) this.#sink(position, node, at);
  }

  #rise(from: number, node: number, at: number): void {
    const [ats, nodes, positions] = [this.#at, this.#node, this.#position];
    let position = from;
    while (position > 0) {
      const parent = (position - 1) >> 2;
      const parentAt = ats[parent] as number;
      const parentNode = nodes[parent] as number;
      if (parentAt < at || (parentAt === at && parentNode < node)) break;
      ats[position] = parentAt;
      nodes[position] = parentNode;
      positions[parentNode] = position;
      position = parent;
    }
    ats[position] = at;
    nodes[position] = node;
    positions[node] = position;
  }

  #sink(from: number, node: number, at: number): void {
    const [ats, nodes, positions] = [this.#at, this.#node, this.#position];
    const length = ats.length;
    let position = from;
    for (let child = ARITY * position + 1; child < length; child = ARITY * position + 1) {
      let least = child;
      let leastAt = ats[child] as number;
      const end = Math.min(child + ARITY, length);
      for (let other = child + 1; other < end; other += 1) {
        const otherAt = ats[other] as number;
        if (
          otherAt < leastAt ||
          (otherAt === leastAt && (nodes[other] as number) < (nodes[least] as number))
        ) {
          least = other;
          leastAt = otherAt;
        }
      }
      const leastNode = nodes[least] as number;
      if (at < leastAt || (at === leastAt && node < leastNode)) break;
      ats[position] = leastAt;
      nodes[position] = leastNode;
      positions[leastNode] = position;
      position = least;
    }
    ats[position] = at;
    nodes[position] = node;
    positions[node] = position;
  }
}
