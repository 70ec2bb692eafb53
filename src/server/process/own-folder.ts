/** Notices that a state folder is no longer the one that this process has opened: it was deleted, renamed or replaced. */
import { existsSync, lstatSync, readFileSync, realpathSync, statSync } from 'node:fs'
import type { Log } from '../../core/config/config.ts'
import { BaxError } from '../../core/errors/errors.ts'
import { createWhole } from '../../core/state/files.ts'
import { limits } from '../../core/limits/limits.ts'
import { removeAbandoned } from '../../core/state/state-check.ts'

/** Returns why the path no longer leads to what was there before, undefined while it does. */
type Check = () => string | undefined

/** Checks a folder by its inode: a renamed one, or a link that leads elsewhere, is another. */
export function folderCheck(path: string): Check {
  const real = realpathSync(path)
  const { dev, ino } = statSync(path)
  return () => {
    const now = statSync(path, { throwIfNoEntry: false })
    if (!now) return `the state folder ${path} was deleted or renamed`
    if (now.ino === ino && now.dev === dev && realpathSync(path) === real) return undefined
    return `the state folder ${path} was replaced`
  }
}

/**
 * Checks that a file has the content that it has now. One that was deleted is written again: only another content means
 * that another process has taken its place.
 */
export function contentCheck(path: string, name: string): Check {
  const before = readFileSync(path, 'utf8')
  return () => {
    const now = existsSync(path) ? readFileSync(path, 'utf8') : createWhole(path, before)
    return now === before ? undefined : `the ${name} was replaced`
  }
}

/** Checks that one of the paths leads to the file that the first one leads to now. */
export function fileCheck(paths: readonly string[], name: string): Check {
  const idOf = (path: string) => lstatSync(path, { throwIfNoEntry: false })?.ino
  const own = idOf(paths[0]!)
  return () => (paths.some((path) => idOf(path) === own) ? undefined : `the ${name} was deleted or replaced`)
}

export interface Watch {
  /** Resolves with the reason when a check fails. */
  readonly lost: Promise<string>
  stop(): void
}

/** Checks every second or two; `onGood` is called after each time that all was as before. */
export function watchOwn(checks: readonly Check[], onGood: () => void = () => {}): Watch {
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

/** The first reason of several checks. What cannot be checked now says nothing. */
function firstReason(checks: readonly Check[]): string | undefined {
  for (const check of checks) {
    try {
      const reason = check()
      if (reason !== undefined) return reason
    } catch {
      // A file system that fails for a while is no other one.
    }
  }
  return undefined
}

/**
 * Guards the folder of a server. Without it the server knows neither keys nor what belongs to them: `check` throws
 * `not_ready` until the same folder is back.
 */
export function guardFolder(stateDir: string, log: Log): { check(): void; stop(): void } {
  clearAbandoned(stateDir, log)
  const folder = folderCheck(stateDir)
  const { lost, stop } = watchOwn([folder])
  const hint = 'put the folder back, or start the server again'
  void lost.then((reason) => log('error', 'every request is refused', { reason, hint }))
  return {
    check() {
      if (firstReason([folder]) !== undefined)
        throw new BaxError('not_ready', 'the state folder of the server is gone or was replaced')
    },
    stop,
  }
}

/** Removes temporary files of killed processes, after the start and without ever failing it. */
export function clearAbandoned(stateDir: string, log: Log): void {
  setImmediate(() => {
    try {
      const files = removeAbandoned(stateDir)
      if (files.length > 0) log('info', 'removed temporary files of killed processes', { files })
    } catch (error) {
      log('warn', 'temporary files were not removed', { error: (error as Error).message })
    }
  })
}
