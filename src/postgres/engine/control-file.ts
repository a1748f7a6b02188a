import { closeSync, constants, fsyncSync, openSync, readSync, writeSync } from "node:fs";
import { join } from "node:path";
import { EngineError } from "./engine.ts";

/** The user of Postgres can write the directory, so links are not followed. */
const SAFE_UPDATE = constants.O_RDWR | constants.O_NOFOLLOW | constants.O_NONBLOCK;
/** Postgres writes no more, so that a disk stores it as a whole. */
const CONTROL_BYTES = 512;
/** The field after the settings in each control file. It identifies the format of numbers. */
const FLOAT_FORMAT = 1_234_567;
/** Bytes from `max_connections` to the number above, with the largest alignment in between. */
const DISTANCES = [28, 32];
const MAX_ALIGN = 8;
/** CRC-32C, bits reversed. */
const POLYNOMIAL = 0x82f63b78;

/**
 * Changes the number of connections that a cluster remembers of its primary. Postgres starts no standby that has
 * fewer. The cluster must have been stopped.
 */
export function rememberConnections(dataDirectory: string, maxConnections: number): void {
  const file = openSync(join(dataDirectory, "global", "pg_control"), SAFE_UPDATE);
  try {
    const control = Buffer.alloc(CONTROL_BYTES);
    readSync(file, control, 0, CONTROL_BYTES, 0);
    const { connectionsAt, checksumAt } = layoutOf(control);
    control.writeUInt32LE(maxConnections, connectionsAt);
    control.writeUInt32LE(crc32c(control.subarray(0, checksumAt)), checksumAt);
    writeSync(file, control, 0, checksumAt + 4, 0);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/** Offsets of the fields, which differ between versions of Postgres. */
function layoutOf(control: Buffer): { readonly connectionsAt: number; readonly checksumAt: number } {
  const floatAt = positions(control).find((at) => control.readDoubleLE(at) === FLOAT_FORMAT);
  const distance = DISTANCES.find(
    (bytes) => floatAt !== undefined && control.readUInt32LE(floatAt - bytes + 24) === MAX_ALIGN,
  );
  const checksumAt = checksumPosition(control, floatAt ?? CONTROL_BYTES);
  if (floatAt === undefined || distance === undefined || checksumAt === undefined)
    throw new EngineError("the control file of a read replica has an unknown form");
  return { connectionsAt: floatAt - distance, checksumAt };
}

function positions(control: Buffer): number[] {
  return Array.from({ length: control.length / 8 }, (_, index) => index * 8);
}

/** The checksum covers everything before it. */
function checksumPosition(control: Buffer, after: number): number | undefined {
  for (let at = after; at + 4 <= control.length; at += 4)
    if (crc32c(control.subarray(0, at)) === control.readUInt32LE(at)) return at;
  return undefined;
}

function crc32c(bytes: Uint8Array): number {
  let crc = 0xffffffff;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit += 1) crc = (crc >>> 1) ^ (crc & 1 ? POLYNOMIAL : 0);
  }
  return (crc ^ 0xffffffff) >>> 0;
}
