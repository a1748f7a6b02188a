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
import { closeSync, fsyncSync, openSync, readFileSync, writeSync } from "node:fs";
import { checksumOf } from "../journal/journal-checksum.ts";

/** The last commit that a world has acknowledged. */
export type Head = {
  readonly historyId: string;
  readonly seq: number;
  readonly chain: number;
  readonly now: number;
};
type Slot = Head & {
  readonly number: number;
};

/** Size of a disk sector: a torn write damages one slot only. */
const SLOT_BYTES = 512;
const SLOTS = 2;
export function headMarkPath(path: string): string {
  if (stryMutAct_9fa48("268")) {
    {}
  } else {
    stryCov_9fa48("268");
    return stryMutAct_9fa48("269") ? `` : (stryCov_9fa48("269"), `${path}-head`);
  }
}

/**
 * The mark beside a world's file that states its last acknowledged commit, so that a lost log is noticed
 * (decision 0020). It is written after the commit is durable, so it never states more than the file contains.
 * It survives a killed process. After a power failure it may be up to one idle period old.
 */
export class HeadMark {
  readonly #file: number;
  #number: number;
  constructor(path: string) {
    if (stryMutAct_9fa48("270")) {
      {}
    } else {
      stryCov_9fa48("270");
      this.#number = stryMutAct_9fa48("271") ? newestSlot(path)?.number && 0 : (stryCov_9fa48("271"), (stryMutAct_9fa48("272") ? newestSlot(path).number : (stryCov_9fa48("272"), newestSlot(path)?.number)) ?? 0);
      this.#file = openSync(headMarkPath(path), openFlags(path), 0o600);
    }
  }
  write(head: Head): void {
    if (stryMutAct_9fa48("273")) {
      {}
    } else {
      stryCov_9fa48("273");
      stryMutAct_9fa48("274") ? this.#number -= 1 : (stryCov_9fa48("274"), this.#number += 1);
      const row = stryMutAct_9fa48("275") ? [] : (stryCov_9fa48("275"), [this.#number, head.historyId, head.seq, head.chain, head.now]);
      const text = (stryMutAct_9fa48("276") ? `` : (stryCov_9fa48("276"), `${JSON.stringify(stryMutAct_9fa48("277") ? [] : (stryCov_9fa48("277"), [...row, checksumOf(row)]))}\n`)).padEnd(SLOT_BYTES);
      try {
        if (stryMutAct_9fa48("278")) {
          {}
        } else {
          stryCov_9fa48("278");
          writeSync(this.#file, text, stryMutAct_9fa48("279") ? this.#number % SLOTS / SLOT_BYTES : (stryCov_9fa48("279"), (stryMutAct_9fa48("280") ? this.#number * SLOTS : (stryCov_9fa48("280"), this.#number % SLOTS)) * SLOT_BYTES));
        }
      } catch {
        // The commit is durable all the same. The mark states an earlier one until the next write.
      }
    }
  }
  sync(): void {
    if (stryMutAct_9fa48("281")) {
      {}
    } else {
      stryCov_9fa48("281");
      fsyncSync(this.#file);
    }
  }
  close(): void {
    if (stryMutAct_9fa48("282")) {
      {}
    } else {
      stryCov_9fa48("282");
      closeSync(this.#file);
    }
  }
}

/** The mark of a world's file; `undefined` if there is none, or none that is intact. */
export function readHeadMark(path: string): Head | undefined {
  if (stryMutAct_9fa48("283")) {
    {}
  } else {
    stryCov_9fa48("283");
    return newestSlot(path);
  }
}
function openFlags(path: string): "r+" | "w+" {
  if (stryMutAct_9fa48("284")) {
    {}
  } else {
    stryCov_9fa48("284");
    return (stryMutAct_9fa48("287") ? readIfExists(headMarkPath(path)) !== undefined : stryMutAct_9fa48("286") ? false : stryMutAct_9fa48("285") ? true : (stryCov_9fa48("285", "286", "287"), readIfExists(headMarkPath(path)) === undefined)) ? stryMutAct_9fa48("288") ? "" : (stryCov_9fa48("288"), "w+") : stryMutAct_9fa48("289") ? "" : (stryCov_9fa48("289"), "r+");
  }
}
function newestSlot(path: string): Slot | undefined {
  if (stryMutAct_9fa48("290")) {
    {}
  } else {
    stryCov_9fa48("290");
    const text = stryMutAct_9fa48("291") ? readIfExists(headMarkPath(path)) && "" : (stryCov_9fa48("291"), readIfExists(headMarkPath(path)) ?? (stryMutAct_9fa48("292") ? "Stryker was here!" : (stryCov_9fa48("292"), "")));
    let newest: Slot | undefined;
    for (let at = 0; stryMutAct_9fa48("295") ? at >= SLOTS * SLOT_BYTES : stryMutAct_9fa48("294") ? at <= SLOTS * SLOT_BYTES : stryMutAct_9fa48("293") ? false : (stryCov_9fa48("293", "294", "295"), at < (stryMutAct_9fa48("296") ? SLOTS / SLOT_BYTES : (stryCov_9fa48("296"), SLOTS * SLOT_BYTES))); stryMutAct_9fa48("297") ? at -= SLOT_BYTES : (stryCov_9fa48("297"), at += SLOT_BYTES)) {
      if (stryMutAct_9fa48("298")) {
        {}
      } else {
        stryCov_9fa48("298");
        const slot = parseSlot(stryMutAct_9fa48("299") ? text : (stryCov_9fa48("299"), text.slice(at, stryMutAct_9fa48("300") ? at - SLOT_BYTES : (stryCov_9fa48("300"), at + SLOT_BYTES))));
        if (stryMutAct_9fa48("303") ? slot !== undefined || slot.number > (newest?.number ?? 0) : stryMutAct_9fa48("302") ? false : stryMutAct_9fa48("301") ? true : (stryCov_9fa48("301", "302", "303"), (stryMutAct_9fa48("305") ? slot === undefined : stryMutAct_9fa48("304") ? true : (stryCov_9fa48("304", "305"), slot !== undefined)) && (stryMutAct_9fa48("308") ? slot.number <= (newest?.number ?? 0) : stryMutAct_9fa48("307") ? slot.number >= (newest?.number ?? 0) : stryMutAct_9fa48("306") ? true : (stryCov_9fa48("306", "307", "308"), slot.number > (stryMutAct_9fa48("309") ? newest?.number && 0 : (stryCov_9fa48("309"), (stryMutAct_9fa48("310") ? newest.number : (stryCov_9fa48("310"), newest?.number)) ?? 0)))))) newest = slot;
      }
    }
    return newest;
  }
}
function parseSlot(text: string): Slot | undefined {
  if (stryMutAct_9fa48("311")) {
    {}
  } else {
    stryCov_9fa48("311");
    try {
      if (stryMutAct_9fa48("312")) {
        {}
      } else {
        stryCov_9fa48("312");
        const row = JSON.parse(text) as [number, string, number, number, number, number];
        const checksum = row.pop();
        if (stryMutAct_9fa48("315") ? checksum === checksumOf(row) : stryMutAct_9fa48("314") ? false : stryMutAct_9fa48("313") ? true : (stryCov_9fa48("313", "314", "315"), checksum !== checksumOf(row))) return undefined;
        const [number, historyId, seq, chain, now] = row;
        return stryMutAct_9fa48("316") ? {} : (stryCov_9fa48("316"), {
          number,
          historyId,
          seq,
          chain,
          now
        });
      }
    } catch {
      if (stryMutAct_9fa48("317")) {
        {}
      } else {
        stryCov_9fa48("317");
        return undefined;
      }
    }
  }
}
function readIfExists(path: string): string | undefined {
  if (stryMutAct_9fa48("318")) {
    {}
  } else {
    stryCov_9fa48("318");
    try {
      if (stryMutAct_9fa48("319")) {
        {}
      } else {
        stryCov_9fa48("319");
        return readFileSync(path, stryMutAct_9fa48("320") ? "" : (stryCov_9fa48("320"), "latin1"));
      }
    } catch (error) {
      if (stryMutAct_9fa48("321")) {
        {}
      } else {
        stryCov_9fa48("321");
        if (stryMutAct_9fa48("324") ? (error as NodeJS.ErrnoException).code !== "ENOENT" : stryMutAct_9fa48("323") ? false : stryMutAct_9fa48("322") ? true : (stryCov_9fa48("322", "323", "324"), (error as NodeJS.ErrnoException).code === (stryMutAct_9fa48("325") ? "" : (stryCov_9fa48("325"), "ENOENT")))) return undefined;
        throw error;
      }
    }
  }
}