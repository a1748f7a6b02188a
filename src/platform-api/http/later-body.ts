/** A body that is read after the transaction of its request, because a transaction cannot wait. */
export class LaterBody {
  /** An object, or JSON text. */
  readonly read: () => Promise<object | string>;

  constructor(read: () => Promise<object | string>) {
    this.read = read;
  }
}
