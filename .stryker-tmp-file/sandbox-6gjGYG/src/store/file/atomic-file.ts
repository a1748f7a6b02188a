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
import { closeSync, copyFileSync, existsSync, fsyncSync, linkSync, mkdirSync, openSync, renameSync, rmSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { OutcomeUnknown } from "../../simulation/journal.ts";

/** Where a file is written before it is moved to `path`. A file found there at startup is unfinished. */
export function temporaryPath(path: string): string {
  if (stryMutAct_9fa48("0")) {
    {}
  } else {
    stryCov_9fa48("0");
    return stryMutAct_9fa48("1") ? `` : (stryCov_9fa48("1"), `${path}${TEMPORARY_SUFFIX}`);
  }
}
export const TEMPORARY_SUFFIX = stryMutAct_9fa48("2") ? "" : (stryCov_9fa48("2"), ".unfinished");

/** Worlds contain secrets: only their user may read them. */
const DIRECTORY_MODE = 0o700;
const FILE_MODE = 0o600;

/** Creates a directory, and those above it, that survive a power failure. */
export function makeDirectory(path: string): void {
  if (stryMutAct_9fa48("3")) {
    {}
  } else {
    stryCov_9fa48("3");
    const firstCreated = mkdirSync(path, stryMutAct_9fa48("4") ? {} : (stryCov_9fa48("4"), {
      recursive: stryMutAct_9fa48("5") ? false : (stryCov_9fa48("5"), true),
      mode: DIRECTORY_MODE
    }));
    if (stryMutAct_9fa48("8") ? firstCreated !== undefined : stryMutAct_9fa48("7") ? false : stryMutAct_9fa48("6") ? true : (stryCov_9fa48("6", "7", "8"), firstCreated === undefined)) return;
    for (let created = path; stryMutAct_9fa48("11") ? created.length < firstCreated.length : stryMutAct_9fa48("10") ? created.length > firstCreated.length : stryMutAct_9fa48("9") ? false : (stryCov_9fa48("9", "10", "11"), created.length >= firstCreated.length); created = dirname(created)) syncFile(dirname(created));
  }
}

/** Creates an empty file that only its user may read. SQLite gives its other files the same mode. */
export function makePrivateFile(path: string): void {
  if (stryMutAct_9fa48("12")) {
    {}
  } else {
    stryCov_9fa48("12");
    closeSync(openSync(path, stryMutAct_9fa48("13") ? "" : (stryCov_9fa48("13"), "a"), FILE_MODE));
  }
}

/** Syncs a file, or the entries of a directory, to disk. */
function syncFile(path: string): void {
  if (stryMutAct_9fa48("14")) {
    {}
  } else {
    stryCov_9fa48("14");
    const file = openSync(path, stryMutAct_9fa48("15") ? "" : (stryCov_9fa48("15"), "r"));
    try {
      if (stryMutAct_9fa48("16")) {
        {}
      } else {
        stryCov_9fa48("16");
        fsyncSync(file);
      }
    } finally {
      if (stryMutAct_9fa48("17")) {
        {}
      } else {
        stryCov_9fa48("17");
        closeSync(file);
      }
    }
  }
}

/**
 * Moves a finished file into place atomically and durably: readers find either the previous file or this one.
 */
export function moveIntoPlace(finished: string, path: string): void {
  if (stryMutAct_9fa48("18")) {
    {}
  } else {
    stryCov_9fa48("18");
    const wal = statSync(stryMutAct_9fa48("19") ? `` : (stryCov_9fa48("19"), `${finished}-wal`), stryMutAct_9fa48("20") ? {} : (stryCov_9fa48("20"), {
      throwIfNoEntry: stryMutAct_9fa48("21") ? true : (stryCov_9fa48("21"), false)
    }));
    if (stryMutAct_9fa48("24") ? wal !== undefined || wal.size > 0 : stryMutAct_9fa48("23") ? false : stryMutAct_9fa48("22") ? true : (stryCov_9fa48("22", "23", "24"), (stryMutAct_9fa48("26") ? wal === undefined : stryMutAct_9fa48("25") ? true : (stryCov_9fa48("25", "26"), wal !== undefined)) && (stryMutAct_9fa48("29") ? wal.size <= 0 : stryMutAct_9fa48("28") ? wal.size >= 0 : stryMutAct_9fa48("27") ? true : (stryCov_9fa48("27", "28", "29"), wal.size > 0)))) throw new Error(stryMutAct_9fa48("30") ? `` : (stryCov_9fa48("30"), `${finished} is incomplete: its write-ahead log could not be merged, for example because the disk is full`));
    syncFile(finished);
    // SQLite would apply the log of an earlier file of this name to the new one.
    if (stryMutAct_9fa48("33") ? false : stryMutAct_9fa48("32") ? true : stryMutAct_9fa48("31") ? existsSync(path) : (stryCov_9fa48("31", "32", "33"), !existsSync(path))) removeDatabase(path);
    renameSync(finished, path);
    syncEntry(path);
  }
}

/** Makes a new or removed name durable. If that fails, it is unknown which one is on disk. */
export function syncEntry(path: string): void {
  if (stryMutAct_9fa48("34")) {
    {}
  } else {
    stryCov_9fa48("34");
    try {
      if (stryMutAct_9fa48("35")) {
        {}
      } else {
        stryCov_9fa48("35");
        syncFile(dirname(path));
      }
    } catch (error) {
      if (stryMutAct_9fa48("36")) {
        {}
      } else {
        stryCov_9fa48("36");
        throw new OutcomeUnknown(error instanceof Error ? error.message : String(error), stryMutAct_9fa48("37") ? {} : (stryCov_9fa48("37"), {
          cause: error
        }));
      }
    }
  }
}

/**
 * Preserves a file under a second name and moves a finished one into its place. `onPreserved` runs in between.
 * If this fails, the second name is removed again, unless it is unknown which file is on disk.
 */
export function replaceAndPreserve(finished: string, path: string, name: string, onPreserved: () => void = () => undefined): void {
  if (stryMutAct_9fa48("38")) {
    {}
  } else {
    stryCov_9fa48("38");
    const isNew = stryMutAct_9fa48("39") ? existsSync(name) : (stryCov_9fa48("39"), !existsSync(name));
    try {
      if (stryMutAct_9fa48("40")) {
        {}
      } else {
        stryCov_9fa48("40");
        if (stryMutAct_9fa48("42") ? false : stryMutAct_9fa48("41") ? true : (stryCov_9fa48("41", "42"), isNew)) preserveAs(path, name);
        onPreserved();
        moveIntoPlace(finished, path);
      }
    } catch (error) {
      if (stryMutAct_9fa48("43")) {
        {}
      } else {
        stryCov_9fa48("43");
        // The next start removes a name that cannot be removed now.
        if (stryMutAct_9fa48("46") ? isNew || !(error instanceof OutcomeUnknown) : stryMutAct_9fa48("45") ? false : stryMutAct_9fa48("44") ? true : (stryCov_9fa48("44", "45", "46"), isNew && (stryMutAct_9fa48("47") ? error instanceof OutcomeUnknown : (stryCov_9fa48("47"), !(error instanceof OutcomeUnknown))))) removeIfPossible(name);
        throw error;
      }
    }
  }
}
function removeIfPossible(path: string): void {
  if (stryMutAct_9fa48("48")) {
    {}
  } else {
    stryCov_9fa48("48");
    try {
      if (stryMutAct_9fa48("49")) {
        {}
      } else {
        stryCov_9fa48("49");
        rmSync(path, stryMutAct_9fa48("50") ? {} : (stryCov_9fa48("50"), {
          force: stryMutAct_9fa48("51") ? false : (stryCov_9fa48("51"), true)
        }));
      }
    } catch {
      // The error that is thrown already matters more.
    }
  }
}
function preserveAs(path: string, name: string): void {
  if (stryMutAct_9fa48("52")) {
    {}
  } else {
    stryCov_9fa48("52");
    makeDirectory(dirname(name));
    try {
      if (stryMutAct_9fa48("53")) {
        {}
      } else {
        stryCov_9fa48("53");
        linkSync(path, name);
        syncFile(dirname(name));
      }
    } catch (error) {
      if (stryMutAct_9fa48("54")) {
        {}
      } else {
        stryCov_9fa48("54");
        const {
          code
        } = error as NodeJS.ErrnoException;
        if (stryMutAct_9fa48("57") ? code !== "EPERM" && code !== "ENOTSUP" && code !== "ENOSYS" || code !== "EXDEV" : stryMutAct_9fa48("56") ? false : stryMutAct_9fa48("55") ? true : (stryCov_9fa48("55", "56", "57"), (stryMutAct_9fa48("59") ? code !== "EPERM" && code !== "ENOTSUP" || code !== "ENOSYS" : stryMutAct_9fa48("58") ? true : (stryCov_9fa48("58", "59"), (stryMutAct_9fa48("61") ? code !== "EPERM" || code !== "ENOTSUP" : stryMutAct_9fa48("60") ? true : (stryCov_9fa48("60", "61"), (stryMutAct_9fa48("63") ? code === "EPERM" : stryMutAct_9fa48("62") ? true : (stryCov_9fa48("62", "63"), code !== (stryMutAct_9fa48("64") ? "" : (stryCov_9fa48("64"), "EPERM")))) && (stryMutAct_9fa48("66") ? code === "ENOTSUP" : stryMutAct_9fa48("65") ? true : (stryCov_9fa48("65", "66"), code !== (stryMutAct_9fa48("67") ? "" : (stryCov_9fa48("67"), "ENOTSUP")))))) && (stryMutAct_9fa48("69") ? code === "ENOSYS" : stryMutAct_9fa48("68") ? true : (stryCov_9fa48("68", "69"), code !== (stryMutAct_9fa48("70") ? "" : (stryCov_9fa48("70"), "ENOSYS")))))) && (stryMutAct_9fa48("72") ? code === "EXDEV" : stryMutAct_9fa48("71") ? true : (stryCov_9fa48("71", "72"), code !== (stryMutAct_9fa48("73") ? "" : (stryCov_9fa48("73"), "EXDEV")))))) throw error;
        // This file system does not support hard links.
        copyFileSync(path, temporaryPath(name));
        moveIntoPlace(temporaryPath(name), name);
      }
    }
  }
}

/** Deletes a closed database, including the files that SQLite may have left next to it. */
export function removeDatabase(path: string): void {
  if (stryMutAct_9fa48("74")) {
    {}
  } else {
    stryCov_9fa48("74");
    for (const suffix of stryMutAct_9fa48("75") ? [] : (stryCov_9fa48("75"), [stryMutAct_9fa48("76") ? "Stryker was here!" : (stryCov_9fa48("76"), ""), stryMutAct_9fa48("77") ? "" : (stryCov_9fa48("77"), "-wal"), stryMutAct_9fa48("78") ? "" : (stryCov_9fa48("78"), "-shm"), stryMutAct_9fa48("79") ? "" : (stryCov_9fa48("79"), "-journal"), stryMutAct_9fa48("80") ? "" : (stryCov_9fa48("80"), "-head")])) rmSync(stryMutAct_9fa48("81") ? path - suffix : (stryCov_9fa48("81"), path + suffix), stryMutAct_9fa48("82") ? {} : (stryCov_9fa48("82"), {
      force: stryMutAct_9fa48("83") ? false : (stryCov_9fa48("83"), true)
    }));
  }
}

/**
 * Writes a temporary file and moves it into place. If that fails, nothing has changed. `finish` moves it; default:
 * `moveIntoPlace`.
 */
export async function writeAtomically(path: string, write: (temporary: string) => Promise<void>, finish: (temporary: string) => void = stryMutAct_9fa48("84") ? () => undefined : (stryCov_9fa48("84"), temporary => moveIntoPlace(temporary, path))): Promise<void> {
  if (stryMutAct_9fa48("85")) {
    {}
  } else {
    stryCov_9fa48("85");
    const temporary = temporaryPath(path);
    makeDirectory(dirname(path));
    removeDatabase(temporary);
    try {
      if (stryMutAct_9fa48("86")) {
        {}
      } else {
        stryCov_9fa48("86");
        await write(temporary);
        finish(temporary);
      }
    } catch (error) {
      if (stryMutAct_9fa48("87")) {
        {}
      } else {
        stryCov_9fa48("87");
        removeDatabase(temporary);
        throw error;
      }
    }
  }
}