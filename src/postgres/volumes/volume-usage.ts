import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { sizeOnDisk } from "./volume-size.ts";

/** Name of the file with the size of an unused volume, so that a server need not measure all volumes at its start. */
const SIZE = "size";
/** A write that was cut has no end of line. */
const SIZE_LINE = /^(\d{1,15})\n$/;

/** Disk space of the volumes of a server. The figure of a volume in use is the last measurement. */
export class VolumeUsage {
  readonly #root: string;
  readonly #bytes = new Map<string, number>();
  /** Volumes that a process uses. */
  readonly #inUse = new Set<string>();
  /** Volumes whose size has changed since they were measured. */
  readonly #unknown = new Set<string>();
  /** Volumes to which no process may write any more. */
  readonly #removing = new Set<string>();
  #total = 0;

  constructor(root: string) {
    this.#root = root;
  }

  get bytes(): number {
    return this.#total;
  }

  /** Measured volumes. */
  get count(): number {
    return this.#bytes.size;
  }

  bytesOf(id: string): number {
    return this.#bytes.get(id) ?? 0;
  }

  /** The volumes that a process uses. */
  inUse(): string[] {
    return [...this.#inUse];
  }

  /** A process uses the volume from now on. */
  begin(id: string): void {
    this.#inUse.add(id);
    rmSync(this.#sizeFile(id), { force: true });
  }

  /** No process uses the volume any more. It is measured with the next measurement. */
  end(id: string): void {
    this.#inUse.delete(id);
    this.changed(id);
  }

  /** The volume has another size, and is measured with the next measurement. */
  changed(id: string): void {
    rmSync(this.#sizeFile(id), { force: true });
    this.#unknown.add(id);
  }

  /** The volume is being removed: from now on, a measurement writes nothing to it. */
  beginRemoval(id: string): void {
    this.#removing.add(id);
  }

  /** The removal has ended. What it left over is measured again. */
  endRemoval(id: string): void {
    this.#removing.delete(id);
    this.#forget(id);
  }

  #forget(id: string): void {
    this.#inUse.delete(id);
    this.#unknown.delete(id);
    this.#total -= this.bytesOf(id);
    this.#bytes.delete(id);
  }

  /** Measures the volumes whose size may have changed. */
  async measure(ids: readonly string[]): Promise<void> {
    const stored = new Set(ids);
    for (const id of this.#bytes.keys()) if (!stored.has(id)) this.#forget(id);
    for (const id of ids)
      if (!this.#bytes.has(id) || this.#inUse.has(id) || this.#unknown.has(id)) await this.#measure(id);
  }

  /** At once, so that volumes that are created in a fast sequence count. */
  async measureNew(id: string): Promise<void> {
    if (!this.#bytes.has(id)) await this.#measure(id);
  }

  async #measure(id: string): Promise<void> {
    const isStable = !this.#inUse.has(id);
    this.#unknown.delete(id);
    const known = isStable ? this.#readSize(id) : undefined;
    const bytes = known ?? (await sizeOnDisk(join(this.#root, id)));
    // The volume may have been removed, or got another size, in the meantime.
    if (!existsSync(join(this.#root, id))) return this.#forget(id);
    this.#total += bytes - this.bytesOf(id);
    this.#bytes.set(id, bytes);
    const isCurrent = !this.#inUse.has(id) && !this.#unknown.has(id) && !this.#removing.has(id);
    if (isStable && known === undefined && isCurrent) this.#storeSize(id, bytes);
  }

  #readSize(id: string): number | undefined {
    const file = this.#sizeFile(id);
    const [, bytes] = SIZE_LINE.exec(existsSync(file) ? readFileSync(file, "utf8") : "") ?? [];
    return bytes === undefined ? undefined : Number(bytes);
  }

  #storeSize(id: string, bytes: number): void {
    try {
      writeFileSync(this.#sizeFile(id), `${bytes}\n`);
    } catch {
      // On a full disk it is measured again by the next server.
    }
  }

  #sizeFile(id: string): string {
    return join(this.#root, id, SIZE);
  }
}
