/**
 * Children per position. Four rather than two: half the levels, and the children of a position lie next to
 * each other.
 */
const ARITY = 4;

/**
 * One instant per node, earliest first: an indexed heap on typed arrays. Nodes are numbered from 0 and their
 * number is fixed. A node that waits for nothing is at infinity, as every node is at first. At equal instants
 * the lowest node comes first, so the order never depends on what was moved before.
 */
export class IndexedHeap {
  /** By position in the heap: the instant, and the node. */
  readonly #at: Float64Array;
  readonly #node: Int32Array;
  /** By node: its position. */
  readonly #position: Int32Array;

  constructor(nodes: number) {
    if (nodes < 1) throw new RangeError(`nodes: expected at least 1, got ${nodes}`);
    this.#at = new Float64Array(nodes).fill(Number.POSITIVE_INFINITY);
    this.#node = Int32Array.from({ length: nodes }, (_, index) => index);
    this.#position = this.#node.slice();
  }

  /** The node with the earliest instant. */
  get first(): number {
    return this.#node[0] as number;
  }

  get firstAt(): number {
    return this.#at[0] as number;
  }

  /** Moves a node to another instant, earlier or later. */
  set(node: number, at: number): void {
    const position = this.#position[node] as number;
    const previousAt = this.#at[position] as number;
    if (at < previousAt) this.#siftUp(position, node, at);
    else if (at > previousAt) this.#siftDown(position, node, at);
  }

  #siftUp(from: number, node: number, at: number): void {
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

  #siftDown(from: number, node: number, at: number): void {
    const [ats, nodes, positions] = [this.#at, this.#node, this.#position];
    const length = ats.length;
    let position = from;
    for (let child = ARITY * position + 1; child < length; child = ARITY * position + 1) {
      let earliest = child;
      let earliestAt = ats[child] as number;
      const end = Math.min(child + ARITY, length);
      for (let other = child + 1; other < end; other += 1) {
        const otherAt = ats[other] as number;
        if (
          otherAt < earliestAt ||
          (otherAt === earliestAt && (nodes[other] as number) < (nodes[earliest] as number))
        ) {
          earliest = other;
          earliestAt = otherAt;
        }
      }
      const earliestNode = nodes[earliest] as number;
      if (at < earliestAt || (at === earliestAt && node < earliestNode)) break;
      ats[position] = earliestAt;
      nodes[position] = earliestNode;
      positions[earliestNode] = position;
      position = earliest;
    }
    ats[position] = at;
    nodes[position] = node;
    positions[node] = position;
  }
}
