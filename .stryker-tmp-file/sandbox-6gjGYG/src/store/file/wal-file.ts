// @ts-nocheck
function stryNS_9fa48() {
  var g = typeof globalThis === 'object' && globalThis && globalThis.Math === Math && globalThis || new Function("return this")();
  var ns = g.__stryker__ || (g.__stryker__ = {});
  if (ns.activeMutant === undefined && g.process && g.process.env && g.process.env.__STRYKER_ACTIVE_MUTANT__) {
    ns.activeMutant = g.process.env.__STRYKER_ACTIVE_MUTANT__;
  }
  function retrieveNS() {
    return ns;
  }
  stryNS_9fa48 = retrieveNS;
  return retrieveNS();
}
stryNS_9fa48();
function stryCov_9fa48() {
  var ns = stryNS_9fa48();
  var cov = ns.mutantCoverage || (ns.mutantCoverage = {
    static: {},
    perTest: {}
  });
  function cover() {
    var c = cov.static;
    if (ns.currentTestId) {
      c = cov.perTest[ns.currentTestId] = cov.perTest[ns.currentTestId] || {};
    }
    var a = arguments;
    for (var i = 0; i < a.length; i++) {
      c[a[i]] = (c[a[i]] || 0) + 1;
    }
  }
  stryCov_9fa48 = cover;
  cover.apply(null, arguments);
}
function stryMutAct_9fa48(id) {
  var ns = stryNS_9fa48();
  function isActive(id) {
    if (ns.activeMutant === id) {
      if (ns.hitCount !== void 0 && ++ns.hitCount > ns.hitLimit) {
        throw new Error('Stryker: Hit count limit reached (' + ns.hitCount + ')');
      }
      return true;
    }
    return false;
  }
  stryMutAct_9fa48 = isActive;
  return isActive(id);
}
import { closeSync, fstatSync, fsyncSync, ftruncateSync, openSync, readSync, statSync, writeSync } from "node:fs";
import { endianness } from "node:os";
import type BetterSqlite3 from "better-sqlite3";

// The format is documented at https://www.sqlite.org/fileformat2.html#walformat.

const HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;
/** The lowest bit states whether checksums read the data as big-endian words. */
const MAGIC = 0x377f0682;
const FORMAT_VERSION = 3_007_000;
const BYTES_PER_COPY = 1_048_576;
/** Frames that are read at once. */
const FRAMES_PER_READ = 256;
const MAX_ATTEMPTS = 5;
export function walPath(path: string): string {
  if (stryMutAct_9fa48("902")) {
    {}
  } else {
    stryCov_9fa48("902");
    return stryMutAct_9fa48("903") ? `` : (stryCov_9fa48("903"), `${path}-wal`);
  }
}

/**
 * Returns a function that cuts the write-ahead log after the last successful commit of this connection, and
 * makes that durable. Safe while others read the log: they read only what remains.
 */
export function cutWal(sqlite: BetterSqlite3.Database): () => void {
  if (stryMutAct_9fa48("904")) {
    {}
  } else {
    stryCov_9fa48("904");
    const size = sqlite.prepare<[], {
      log: number;
    }>(stryMutAct_9fa48("905") ? "" : (stryCov_9fa48("905"), "PRAGMA wal_checkpoint(NOOP)"));
    const pageSize = sqlite.prepare<[], number>("PRAGMA page_size").pluck().get() as number;
    let wasCut = stryMutAct_9fa48("906") ? false : (stryCov_9fa48("906"), true);
    return () => {
      if (stryMutAct_9fa48("907")) {
        {}
      } else {
        stryCov_9fa48("907");
        const frames = stryMutAct_9fa48("908") ? size.get()?.log && -1 : (stryCov_9fa48("908"), (stryMutAct_9fa48("909") ? size.get().log : (stryCov_9fa48("909"), size.get()?.log)) ?? (stryMutAct_9fa48("910") ? +1 : (stryCov_9fa48("910"), -1)));
        if (stryMutAct_9fa48("914") ? frames >= 0 : stryMutAct_9fa48("913") ? frames <= 0 : stryMutAct_9fa48("912") ? false : stryMutAct_9fa48("911") ? true : (stryCov_9fa48("911", "912", "913", "914"), frames < 0)) throw new Error(stryMutAct_9fa48("915") ? "" : (stryCov_9fa48("915"), "the database has no write-ahead log"));
        const end = (stryMutAct_9fa48("918") ? frames !== 0 : stryMutAct_9fa48("917") ? false : stryMutAct_9fa48("916") ? true : (stryCov_9fa48("916", "917", "918"), frames === 0)) ? 0 : stryMutAct_9fa48("919") ? HEADER_BYTES - frames * (FRAME_HEADER_BYTES + pageSize) : (stryCov_9fa48("919"), HEADER_BYTES + (stryMutAct_9fa48("920") ? frames / (FRAME_HEADER_BYTES + pageSize) : (stryCov_9fa48("920"), frames * (stryMutAct_9fa48("921") ? FRAME_HEADER_BYTES - pageSize : (stryCov_9fa48("921"), FRAME_HEADER_BYTES + pageSize)))));
        // Closing a file releases the locks of this process on it, but SQLite locks other files.
        const file = openSync(walPath(sqlite.name), stryMutAct_9fa48("922") ? "" : (stryCov_9fa48("922"), "r+"));
        try {
          if (stryMutAct_9fa48("923")) {
            {}
          } else {
            stryCov_9fa48("923");
            if (stryMutAct_9fa48("926") ? wasCut || fstatSync(file).size <= end : stryMutAct_9fa48("925") ? false : stryMutAct_9fa48("924") ? true : (stryCov_9fa48("924", "925", "926"), wasCut && (stryMutAct_9fa48("929") ? fstatSync(file).size > end : stryMutAct_9fa48("928") ? fstatSync(file).size < end : stryMutAct_9fa48("927") ? true : (stryCov_9fa48("927", "928", "929"), fstatSync(file).size <= end)))) return;
            wasCut = stryMutAct_9fa48("930") ? true : (stryCov_9fa48("930"), false);
            // Written again on each attempt: the system may have dropped what a failed sync did not write.
            writeSync(file, Buffer.alloc(HEADER_BYTES), 0, HEADER_BYTES, end);
            ftruncateSync(file, end);
            fsyncSync(file);
            wasCut = stryMutAct_9fa48("931") ? false : (stryCov_9fa48("931"), true);
          }
        } finally {
          if (stryMutAct_9fa48("932")) {
            {}
          } else {
            stryCov_9fa48("932");
            closeSync(file);
          }
        }
      }
    };
  }
}

/**
 * Writes the log of a file again, byte for byte, and syncs it. After a failed sync the system counts data as
 * written although it may not be on disk (decision 0019), so what can be read from the log may be lost by a
 * power failure, and no later sync would prevent that. The same bytes at the same place damage nothing if the
 * power fails now. No other connection may write to the log meanwhile.
 */
export function makeWalDurable(path: string): void {
  if (stryMutAct_9fa48("933")) {
    {}
  } else {
    stryCov_9fa48("933");
    if (stryMutAct_9fa48("936") ? (statSync(walPath(path), {
      throwIfNoEntry: false
    })?.size ?? 0) !== 0 : stryMutAct_9fa48("935") ? false : stryMutAct_9fa48("934") ? true : (stryCov_9fa48("934", "935", "936"), (stryMutAct_9fa48("937") ? statSync(walPath(path), {
      throwIfNoEntry: false
    })?.size && 0 : (stryCov_9fa48("937"), (stryMutAct_9fa48("938") ? statSync(walPath(path), {
      throwIfNoEntry: false
    }).size : (stryCov_9fa48("938"), statSync(walPath(path), stryMutAct_9fa48("939") ? {} : (stryCov_9fa48("939"), {
      throwIfNoEntry: stryMutAct_9fa48("940") ? true : (stryCov_9fa48("940"), false)
    }))?.size)) ?? 0)) === 0)) return;
    const file = openSync(walPath(path), stryMutAct_9fa48("941") ? "" : (stryCov_9fa48("941"), "r+"));
    try {
      if (stryMutAct_9fa48("942")) {
        {}
      } else {
        stryCov_9fa48("942");
        const buffer = Buffer.alloc(BYTES_PER_COPY);
        if (stryMutAct_9fa48("943")) {
          for (let at = 0; false;) {
            const read = readSync(file, buffer, 0, buffer.length, at);
            if (read === 0) break;
            for (let done = 0; done < read;) done += writeSync(file, buffer, done, read - done, at + done);
            at += read;
          }
        } else {
          stryCov_9fa48("943");
          for (let at = 0;;) {
            if (stryMutAct_9fa48("944")) {
              {}
            } else {
              stryCov_9fa48("944");
              const read = readSync(file, buffer, 0, buffer.length, at);
              if (stryMutAct_9fa48("947") ? read !== 0 : stryMutAct_9fa48("946") ? false : stryMutAct_9fa48("945") ? true : (stryCov_9fa48("945", "946", "947"), read === 0)) break;
              for (let done = 0; stryMutAct_9fa48("950") ? done >= read : stryMutAct_9fa48("949") ? done <= read : stryMutAct_9fa48("948") ? false : (stryCov_9fa48("948", "949", "950"), done < read);) stryMutAct_9fa48("951") ? done -= writeSync(file, buffer, done, read - done, at + done) : (stryCov_9fa48("951"), done += writeSync(file, buffer, done, stryMutAct_9fa48("952") ? read + done : (stryCov_9fa48("952"), read - done), stryMutAct_9fa48("953") ? at - done : (stryCov_9fa48("953"), at + done)));
              stryMutAct_9fa48("954") ? at -= read : (stryCov_9fa48("954"), at += read);
            }
          }
        }
        fsyncSync(file);
      }
    } finally {
      if (stryMutAct_9fa48("955")) {
        {}
      } else {
        stryCov_9fa48("955");
        closeSync(file);
      }
    }
  }
}

/** Intact commits that SQLite cannot read because a frame before them is damaged. */
export type WalDamage = {
  readonly atByte: number;
  readonly unreadableCommits: number;
};

/**
 * Looks for commits after the first invalid frame of a write-ahead log. SQLite ignores everything from that
 * frame on. After a power failure these are the frames of the last commit, whose sync had not returned. A
 * commit that is followed by more frames had been synced, so it was lost by damage.
 */
export function findWalDamage(path: string): WalDamage | undefined {
  if (stryMutAct_9fa48("956")) {
    {}
  } else {
    stryCov_9fa48("956");
    if (stryMutAct_9fa48("957")) {
      for (let attempt = 1; false; attempt += 1) {
        const header = readAt(walPath(path), 0, HEADER_BYTES);
        // A header that was never completed has no frames.
        const damage = header?.length === HEADER_BYTES ? scan(walPath(path), header) : undefined;
        if (damage === undefined) return undefined;
        // A server that uses the log may have restarted it during the scan.
        const isUnchanged = readAt(walPath(path), 0, HEADER_BYTES)?.equals(header as Buffer) === true;
        if (isUnchanged || attempt === MAX_ATTEMPTS) return isUnchanged ? damage : undefined;
      }
    } else {
      stryCov_9fa48("957");
      for (let attempt = 1;; stryMutAct_9fa48("958") ? attempt -= 1 : (stryCov_9fa48("958"), attempt += 1)) {
        if (stryMutAct_9fa48("959")) {
          {}
        } else {
          stryCov_9fa48("959");
          const header = readAt(walPath(path), 0, HEADER_BYTES);
          // A header that was never completed has no frames.
          const damage = (stryMutAct_9fa48("962") ? header?.length !== HEADER_BYTES : stryMutAct_9fa48("961") ? false : stryMutAct_9fa48("960") ? true : (stryCov_9fa48("960", "961", "962"), (stryMutAct_9fa48("963") ? header.length : (stryCov_9fa48("963"), header?.length)) === HEADER_BYTES)) ? scan(walPath(path), header) : undefined;
          if (stryMutAct_9fa48("966") ? damage !== undefined : stryMutAct_9fa48("965") ? false : stryMutAct_9fa48("964") ? true : (stryCov_9fa48("964", "965", "966"), damage === undefined)) return undefined;
          // A server that uses the log may have restarted it during the scan.
          const isUnchanged = stryMutAct_9fa48("969") ? readAt(walPath(path), 0, HEADER_BYTES)?.equals(header as Buffer) !== true : stryMutAct_9fa48("968") ? false : stryMutAct_9fa48("967") ? true : (stryCov_9fa48("967", "968", "969"), (stryMutAct_9fa48("970") ? readAt(walPath(path), 0, HEADER_BYTES).equals(header as Buffer) : (stryCov_9fa48("970"), readAt(walPath(path), 0, HEADER_BYTES)?.equals(header as Buffer))) === (stryMutAct_9fa48("971") ? false : (stryCov_9fa48("971"), true)));
          if (stryMutAct_9fa48("974") ? isUnchanged && attempt === MAX_ATTEMPTS : stryMutAct_9fa48("973") ? false : stryMutAct_9fa48("972") ? true : (stryCov_9fa48("972", "973", "974"), isUnchanged || (stryMutAct_9fa48("976") ? attempt !== MAX_ATTEMPTS : stryMutAct_9fa48("975") ? false : (stryCov_9fa48("975", "976"), attempt === MAX_ATTEMPTS)))) return isUnchanged ? damage : undefined;
        }
      }
    }
  }
}
type Checksum = readonly [number, number];
function scan(path: string, header: Buffer): WalDamage | undefined {
  if (stryMutAct_9fa48("977")) {
    {}
  } else {
    stryCov_9fa48("977");
    const magic = header.readUInt32BE(0);
    const pageSize = header.readUInt32BE(8);
    const isBigEndian = stryMutAct_9fa48("980") ? (magic & 1) !== 1 : stryMutAct_9fa48("979") ? false : stryMutAct_9fa48("978") ? true : (stryCov_9fa48("978", "979", "980"), (magic & 1) === 1);
    const isHeaderValid = stryMutAct_9fa48("983") ? (magic & ~1) >>> 0 === MAGIC && header.readUInt32BE(4) === FORMAT_VERSION || isEqual(checksum(header.subarray(0, 24), [0, 0], isBigEndian), storedChecksum(header, 24)) : stryMutAct_9fa48("982") ? false : stryMutAct_9fa48("981") ? true : (stryCov_9fa48("981", "982", "983"), (stryMutAct_9fa48("985") ? (magic & ~1) >>> 0 === MAGIC || header.readUInt32BE(4) === FORMAT_VERSION : stryMutAct_9fa48("984") ? true : (stryCov_9fa48("984", "985"), (stryMutAct_9fa48("987") ? (magic & ~1) >>> 0 !== MAGIC : stryMutAct_9fa48("986") ? true : (stryCov_9fa48("986", "987"), (magic & (stryMutAct_9fa48("988") ? 1 : (stryCov_9fa48("988"), ~1))) >>> 0 === MAGIC)) && (stryMutAct_9fa48("990") ? header.readUInt32BE(4) !== FORMAT_VERSION : stryMutAct_9fa48("989") ? true : (stryCov_9fa48("989", "990"), header.readUInt32BE(4) === FORMAT_VERSION)))) && isEqual(checksum(header.subarray(0, 24), stryMutAct_9fa48("991") ? [] : (stryCov_9fa48("991"), [0, 0]), isBigEndian), storedChecksum(header, 24)));
    // Without a header nothing states which frames are current. The head mark decides.
    if (stryMutAct_9fa48("994") ? false : stryMutAct_9fa48("993") ? true : stryMutAct_9fa48("992") ? isHeaderValid : (stryCov_9fa48("992", "993", "994"), !isHeaderValid)) return undefined;
    const salts = header.subarray(16, 24);
    const frameBytes = stryMutAct_9fa48("995") ? FRAME_HEADER_BYTES - pageSize : (stryCov_9fa48("995"), FRAME_HEADER_BYTES + pageSize);
    let previous = storedChecksum(header, 24);
    let firstInvalid: number | undefined;
    let [commits, commitsWithSuccessor] = stryMutAct_9fa48("996") ? [] : (stryCov_9fa48("996"), [0, 0]);
    if (stryMutAct_9fa48("997")) {
      for (let offset = HEADER_BYTES; false;) {
        const chunk = readAt(path, offset, frameBytes * FRAMES_PER_READ) ?? Buffer.alloc(0);
        const frames = Math.floor(chunk.length / frameBytes);
        if (frames === 0) break;
        for (let index = 0; index < frames; index += 1) {
          const frame = chunk.subarray(index * frameBytes, (index + 1) * frameBytes);
          const stored = storedChecksum(frame, 16);
          const own = checksum(frame.subarray(FRAME_HEADER_BYTES), checksum(frame.subarray(0, 8), previous, isBigEndian), isBigEndian);
          // The checksum continues that of the frame before, which states its own even if it is damaged.
          const isValid = frame.subarray(8, 16).equals(salts) && isEqual(own, stored);
          previous = stored;
          if (!isValid) firstInvalid ??= offset + index * frameBytes;else if (firstInvalid !== undefined) {
            commitsWithSuccessor = commits;
            if (frame.readUInt32BE(4) !== 0) commits += 1;
          }
        }
        offset += frames * frameBytes;
      }
    } else {
      stryCov_9fa48("997");
      for (let offset = HEADER_BYTES;;) {
        if (stryMutAct_9fa48("998")) {
          {}
        } else {
          stryCov_9fa48("998");
          const chunk = stryMutAct_9fa48("999") ? readAt(path, offset, frameBytes * FRAMES_PER_READ) && Buffer.alloc(0) : (stryCov_9fa48("999"), readAt(path, offset, stryMutAct_9fa48("1000") ? frameBytes / FRAMES_PER_READ : (stryCov_9fa48("1000"), frameBytes * FRAMES_PER_READ)) ?? Buffer.alloc(0));
          const frames = Math.floor(stryMutAct_9fa48("1001") ? chunk.length * frameBytes : (stryCov_9fa48("1001"), chunk.length / frameBytes));
          if (stryMutAct_9fa48("1004") ? frames !== 0 : stryMutAct_9fa48("1003") ? false : stryMutAct_9fa48("1002") ? true : (stryCov_9fa48("1002", "1003", "1004"), frames === 0)) break;
          for (let index = 0; stryMutAct_9fa48("1007") ? index >= frames : stryMutAct_9fa48("1006") ? index <= frames : stryMutAct_9fa48("1005") ? false : (stryCov_9fa48("1005", "1006", "1007"), index < frames); stryMutAct_9fa48("1008") ? index -= 1 : (stryCov_9fa48("1008"), index += 1)) {
            if (stryMutAct_9fa48("1009")) {
              {}
            } else {
              stryCov_9fa48("1009");
              const frame = chunk.subarray(stryMutAct_9fa48("1010") ? index / frameBytes : (stryCov_9fa48("1010"), index * frameBytes), stryMutAct_9fa48("1011") ? (index + 1) / frameBytes : (stryCov_9fa48("1011"), (stryMutAct_9fa48("1012") ? index - 1 : (stryCov_9fa48("1012"), index + 1)) * frameBytes));
              const stored = storedChecksum(frame, 16);
              const own = checksum(frame.subarray(FRAME_HEADER_BYTES), checksum(frame.subarray(0, 8), previous, isBigEndian), isBigEndian);
              // The checksum continues that of the frame before, which states its own even if it is damaged.
              const isValid = stryMutAct_9fa48("1015") ? frame.subarray(8, 16).equals(salts) || isEqual(own, stored) : stryMutAct_9fa48("1014") ? false : stryMutAct_9fa48("1013") ? true : (stryCov_9fa48("1013", "1014", "1015"), frame.subarray(8, 16).equals(salts) && isEqual(own, stored));
              previous = stored;
              if (stryMutAct_9fa48("1018") ? false : stryMutAct_9fa48("1017") ? true : stryMutAct_9fa48("1016") ? isValid : (stryCov_9fa48("1016", "1017", "1018"), !isValid)) stryMutAct_9fa48("1019") ? firstInvalid &&= offset + index * frameBytes : (stryCov_9fa48("1019"), firstInvalid ??= stryMutAct_9fa48("1020") ? offset - index * frameBytes : (stryCov_9fa48("1020"), offset + (stryMutAct_9fa48("1021") ? index / frameBytes : (stryCov_9fa48("1021"), index * frameBytes))));else if (stryMutAct_9fa48("1024") ? firstInvalid === undefined : stryMutAct_9fa48("1023") ? false : stryMutAct_9fa48("1022") ? true : (stryCov_9fa48("1022", "1023", "1024"), firstInvalid !== undefined)) {
                if (stryMutAct_9fa48("1025")) {
                  {}
                } else {
                  stryCov_9fa48("1025");
                  commitsWithSuccessor = commits;
                  if (stryMutAct_9fa48("1028") ? frame.readUInt32BE(4) === 0 : stryMutAct_9fa48("1027") ? false : stryMutAct_9fa48("1026") ? true : (stryCov_9fa48("1026", "1027", "1028"), frame.readUInt32BE(4) !== 0)) stryMutAct_9fa48("1029") ? commits -= 1 : (stryCov_9fa48("1029"), commits += 1);
                }
              }
            }
          }
          stryMutAct_9fa48("1030") ? offset -= frames * frameBytes : (stryCov_9fa48("1030"), offset += stryMutAct_9fa48("1031") ? frames / frameBytes : (stryCov_9fa48("1031"), frames * frameBytes));
        }
      }
    }
    if (stryMutAct_9fa48("1034") ? firstInvalid === undefined && commitsWithSuccessor === 0 : stryMutAct_9fa48("1033") ? false : stryMutAct_9fa48("1032") ? true : (stryCov_9fa48("1032", "1033", "1034"), (stryMutAct_9fa48("1036") ? firstInvalid !== undefined : stryMutAct_9fa48("1035") ? false : (stryCov_9fa48("1035", "1036"), firstInvalid === undefined)) || (stryMutAct_9fa48("1038") ? commitsWithSuccessor !== 0 : stryMutAct_9fa48("1037") ? false : (stryCov_9fa48("1037", "1038"), commitsWithSuccessor === 0)))) return undefined;
    return stryMutAct_9fa48("1039") ? {} : (stryCov_9fa48("1039"), {
      atByte: firstInvalid,
      unreadableCommits: commits
    });
  }
}
function storedChecksum(bytes: Buffer, at: number): Checksum {
  if (stryMutAct_9fa48("1040")) {
    {}
  } else {
    stryCov_9fa48("1040");
    return stryMutAct_9fa48("1041") ? [] : (stryCov_9fa48("1041"), [bytes.readUInt32BE(at), bytes.readUInt32BE(stryMutAct_9fa48("1042") ? at - 4 : (stryCov_9fa48("1042"), at + 4))]);
  }
}
function isEqual(one: Checksum, other: Checksum): boolean {
  if (stryMutAct_9fa48("1043")) {
    {}
  } else {
    stryCov_9fa48("1043");
    return stryMutAct_9fa48("1046") ? one[0] === other[0] || one[1] === other[1] : stryMutAct_9fa48("1045") ? false : stryMutAct_9fa48("1044") ? true : (stryCov_9fa48("1044", "1045", "1046"), (stryMutAct_9fa48("1048") ? one[0] !== other[0] : stryMutAct_9fa48("1047") ? true : (stryCov_9fa48("1047", "1048"), one[0] === other[0])) && (stryMutAct_9fa48("1050") ? one[1] !== other[1] : stryMutAct_9fa48("1049") ? true : (stryCov_9fa48("1049", "1050"), one[1] === other[1])));
  }
}
function checksum(bytes: Buffer, [first, second]: Checksum, isBigEndian: boolean): Checksum {
  if (stryMutAct_9fa48("1051")) {
    {}
  } else {
    stryCov_9fa48("1051");
    const isHostOrder = stryMutAct_9fa48("1054") ? isBigEndian !== (endianness() === "BE") : stryMutAct_9fa48("1053") ? false : stryMutAct_9fa48("1052") ? true : (stryCov_9fa48("1052", "1053", "1054"), isBigEndian === (stryMutAct_9fa48("1057") ? endianness() !== "BE" : stryMutAct_9fa48("1056") ? false : stryMutAct_9fa48("1055") ? true : (stryCov_9fa48("1055", "1056", "1057"), endianness() === (stryMutAct_9fa48("1058") ? "" : (stryCov_9fa48("1058"), "BE")))));
    // A copy, because a view of words must begin at a multiple of 4.
    const data = Buffer.from(bytes);
    if (stryMutAct_9fa48("1061") ? false : stryMutAct_9fa48("1060") ? true : stryMutAct_9fa48("1059") ? isHostOrder : (stryCov_9fa48("1059", "1060", "1061"), !isHostOrder)) data.swap32();
    const words = new Uint32Array(data.buffer, data.byteOffset, stryMutAct_9fa48("1062") ? data.length * 4 : (stryCov_9fa48("1062"), data.length / 4));
    let [s0, s1] = stryMutAct_9fa48("1063") ? [] : (stryCov_9fa48("1063"), [first, second]);
    for (let index = 0; stryMutAct_9fa48("1066") ? index >= words.length : stryMutAct_9fa48("1065") ? index <= words.length : stryMutAct_9fa48("1064") ? false : (stryCov_9fa48("1064", "1065", "1066"), index < words.length); stryMutAct_9fa48("1067") ? index -= 2 : (stryCov_9fa48("1067"), index += 2)) {
      if (stryMutAct_9fa48("1068")) {
        {}
      } else {
        stryCov_9fa48("1068");
        s0 = (stryMutAct_9fa48("1069") ? s0 + (words[index] as number) - s1 : (stryCov_9fa48("1069"), (stryMutAct_9fa48("1070") ? s0 - (words[index] as number) : (stryCov_9fa48("1070"), s0 + (words[index] as number))) + s1)) >>> 0;
        s1 = (stryMutAct_9fa48("1071") ? s1 + (words[index + 1] as number) - s0 : (stryCov_9fa48("1071"), (stryMutAct_9fa48("1072") ? s1 - (words[index + 1] as number) : (stryCov_9fa48("1072"), s1 + (words[index + 1] as number))) + s0)) >>> 0;
      }
    }
    return stryMutAct_9fa48("1073") ? [] : (stryCov_9fa48("1073"), [s0, s1]);
  }
}

/** Up to `length` bytes from `position` on; `undefined` if there are none or no file. */
function readAt(path: string, position: number, length: number): Buffer | undefined {
  if (stryMutAct_9fa48("1074")) {
    {}
  } else {
    stryCov_9fa48("1074");
    if (stryMutAct_9fa48("1077") ? statSync(path, {
      throwIfNoEntry: false
    }) !== undefined : stryMutAct_9fa48("1076") ? false : stryMutAct_9fa48("1075") ? true : (stryCov_9fa48("1075", "1076", "1077"), statSync(path, stryMutAct_9fa48("1078") ? {} : (stryCov_9fa48("1078"), {
      throwIfNoEntry: stryMutAct_9fa48("1079") ? true : (stryCov_9fa48("1079"), false)
    })) === undefined)) return undefined;
    const file = openSync(path, stryMutAct_9fa48("1080") ? "" : (stryCov_9fa48("1080"), "r"));
    try {
      if (stryMutAct_9fa48("1081")) {
        {}
      } else {
        stryCov_9fa48("1081");
        const bytes = Buffer.alloc(length);
        const read = readSync(file, bytes, 0, length, position);
        return (stryMutAct_9fa48("1084") ? read !== 0 : stryMutAct_9fa48("1083") ? false : stryMutAct_9fa48("1082") ? true : (stryCov_9fa48("1082", "1083", "1084"), read === 0)) ? undefined : bytes.subarray(0, read);
      }
    } finally {
      if (stryMutAct_9fa48("1085")) {
        {}
      } else {
        stryCov_9fa48("1085");
        closeSync(file);
      }
    }
  }
}