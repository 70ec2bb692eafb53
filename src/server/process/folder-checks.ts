/** Detects that the state folder this process has opened was deleted, renamed or replaced. */
import { existsSync, lstatSync, readFileSync, realpathSync, statSync } from 'node:fs'
import type { Log } from '../../core/config/config.ts'
import { BaxError } from '../../core/errors/errors.ts'
import { createAtomic } from '../../core/state/files.ts'
import { limits } from '../../core/limits/limits.ts'
import { removeAbandoned } from '../../core/state/state-check.ts'

/** Returns the reason why a path is no longer the same, undefined while it is. */
type Check = () => string | undefined

/** Checks a folder by its inode and real path. */
export function folderCheck(path: string): Check {
  const real = realpathSync.native(path)
  const { dev, ino } = statSync(path)
  return () => {
    const now = statSync(path, { throwIfNoEntry: false })
    if (!now) return `the state folder ${path} was deleted or renamed`
    if (now.ino === ino && now.dev === dev && realpathSync.native(path) === real) return undefined
    return `the state folder ${path} was replaced`
  }
}

/** Checks that a file keeps its content. A deleted file is restored: only other content means another process. */
export function contentCheck(path: string, name: string): Check {
  const before = readFileSync(path, 'utf8')
  return () => {
    const now = existsSync(path) ? readFileSync(path, 'utf8') : createAtomic(path, before)
    return now === before ? undefined : `the ${name} was replaced`
  }
}

/** Identifies a file; its inode alone may be that of a later file. Undefined if it is missing. */
export function fileIdentity(path: string): string | undefined {
  const info = lstatSync(path, { throwIfNoEntry: false, bigint: true })
  return info && `${info.dev}:${info.ino}:${info.birthtimeNs}`
}

/** Checks that one of the paths is the file that is now at the first path. */
export function fileCheck(paths: readonly [string, ...string[]], name: string): Check {
  const idOf = (path: string) => lstatSync(path, { throwIfNoEntry: false })?.ino
  const own = idOf(paths[0])
  return () => (paths.some((path) => idOf(path) === own) ? undefined : `the ${name} was deleted or replaced`)
}

export interface CheckWatch {
  /** Resolves with the reason when a check fails. */
  readonly lost: Promise<string>
  stop(): void
}

/** Runs the checks every `limits.engine.ownFolderMs`; calls `onGood` each time that all of them pass. */
export function watchChecks(checks: readonly Check[], onGood: () => void = () => {}): CheckWatch {
  let timer: NodeJS.Timeout | undefined
  const lost = new Promise<string>((resolve) => {
    timer = setInterval(() => {
      const reason = firstReason(checks)
      if (reason === undefined) return onGood()
      clearInterval(timer)
      resolve(reason)
    }, limits.engine.ownFolderMs).unref()
  })
  return { lost, stop: () => clearInterval(timer) }
}

/** Returns the first reason of several checks. A check that throws is skipped. */
function firstReason(checks: readonly Check[]): string | undefined {
  for (const check of checks) {
    try {
      const reason = check()
      if (reason !== undefined) return reason
    } catch {
      // A temporary failure of the file system does not mean that the folder was replaced.
    }
  }
  return undefined
}

/** Guards the state folder of a server, which holds its keys: `check` throws `not_ready` while it is missing. */
export function guardFolder(stateDir: string, log: Log): { check(): void; stop(): void } {
  removeTemporaryFiles(stateDir, log)
  const folder = folderCheck(stateDir)
  const { lost, stop } = watchChecks([folder])
  const hint = 'restore the folder, or restart the server'
  void lost.then((reason) => log('error', 'every request is rejected', { reason, hint }))
  return {
    check() {
      if (firstReason([folder]) !== undefined)
        throw new BaxError('not_ready', 'the state folder of the server is missing or was replaced')
    },
    stop,
  }
}

/** Removes temporary files of killed processes, after the start; failures are only logged. */
export function removeTemporaryFiles(stateDir: string, log: Log): void {
  setImmediate(() => {
    try {
      const files = removeAbandoned(stateDir)
      if (files.length > 0) log('info', 'removed temporary files of killed processes', { files })
    } catch (error) {
      log('warn', 'temporary files were not removed', { error: (error as Error).message })
    }
  })
}
