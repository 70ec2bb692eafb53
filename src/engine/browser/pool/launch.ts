/** Starts Chromium so that it ends, and its folder is removed, when the engine ends for any reason. */
import { type ChildProcess, spawn, type SpawnOptions } from 'node:child_process'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { platform, tmpdir } from 'node:os'
import { join } from 'node:path'
// Browsers inherit the environment of this process, including display and time zone.
import { env } from 'node:process'
import type { Readable, Writable } from 'node:stream'
import { asBaxError, BaxError } from '../../../core/errors/errors.ts'
import { lacksSandbox } from '../../../core/process/sandbox.ts'
import { systemReason } from '../../../core/errors/system-errors.ts'
import { limits } from '../../../core/limits/limits.ts'
import type { Origin } from '../../../core/process/turns.ts'
import type { KeyShares, Sharing } from '../shares/key-shares.ts'
import { chromiumFlags, type FlagFacts, hasWindows } from './flags.ts'

/** A running Chromium and its debugging pipe. */
export interface BrowserProcess {
  /** Folder for all that the browser writes: `profile`, `artifacts`, `downloads`, `crashes`. */
  readonly folder: string
  readonly input: Writable
  readonly output: Readable
  /** Resolves when the process and its wrapper have exited. */
  readonly exited: Promise<void>
  /** Its part in the share of a key; undefined if it belongs to none. */
  readonly sharing: Sharing | undefined
  /** Returns the last lines of its stderr, for error messages. */
  lastWords(): string
  /** Closes the pipe, which ends Chromium; kills it after a grace period; removes the folder. */
  end(): Promise<void>
}

/**
 * Shell wrapper that passes the pipe to Chromium, closes its own copies, so that the engine notices the end at once,
 * and removes the folder afterwards. When the engine is killed, the pipe breaks, Chromium ends, and it still cleans up.
 */
const wrapper = `dir=$1; shift
"$@" &
exec 3<&- 4>&-
wait $!
n=0
until rm -rf -- "$dir" 2>/dev/null || [ $n -ge 50 ]; do n=$((n+1)); sleep 0.1; done`

const stderrLines = 12

export interface LaunchFacts extends Pick<FlagFacts, 'kind' | 'shell' | 'webmcp'> {
  readonly path: string
  /** Additional switches; of duplicates the last one counts. */
  readonly extra?: readonly string[]
  /** Key whose share of the machine the browser counts towards. */
  readonly share?: { readonly shares: KeyShares; readonly owner: Origin }
}

interface WatchFacts extends Pick<LaunchFacts, 'share'> {
  readonly windows: boolean
}

/** Starts a browser process. @throws BaxError `browser_failed` when the program cannot be started. */
export async function startBrowser({
  path,
  shell,
  kind,
  webmcp,
  extra = [],
  share,
}: LaunchFacts): Promise<BrowserProcess> {
  const folder = await mkdtemp(join(tmpdir(), 'bax-browser-'))
  await Promise.all(['profile', 'artifacts', 'downloads'].map((name) => mkdir(join(folder, name), { mode: 0o700 })))
  const root = lacksSandbox(process.getuid?.())
  const facts = { kind, shell, profileDir: join(folder, 'profile'), root, ...(webmcp !== undefined && { webmcp }) }
  const flags = [...chromiumFlags(facts), ...extra]
  const windows = platform() === 'win32'
  // The crash reporter of a full Chromium would write to the home folder.
  const environment = { ...env, BREAKPAD_DUMP_LOCATION: join(folder, 'crashes') }
  const options: SpawnOptions = { stdio: ['ignore', 'ignore', 'pipe', 'pipe', 'pipe'], env: environment }
  const child = windows
    ? spawn(path, flags, { ...options, windowsHide: !hasWindows(kind) })
    : spawn('/bin/sh', ['-c', wrapper, 'sh', folder, path, ...flags], { ...options, detached: true })
  try {
    await new Promise<void>((resolve, reject) => child.once('spawn', resolve).once('error', reject))
  } catch (cause) {
    await rm(folder, { recursive: true, force: true })
    throw new BaxError('browser_failed', `cannot start the browser: ${systemReason(cause as Error)}`, {
      cause,
      hint: `check ${path}`,
      unavailable: true,
    })
  }
  return watch(child, folder, { windows, share })
}

/** Ends a browser that did not start, and returns the error that reports why. */
export async function launchFailure(browser: BrowserProcess, path: string, cause: unknown): Promise<BaxError> {
  await browser.end()
  const { code, message } = asBaxError(cause)
  const isEnd = code === 'worker_lost' || code === 'target_closed'
  const why = isEnd ? 'it ended at once' : code === 'internal_error' ? 'it cannot be controlled' : message
  const stderr = browser.lastWords()
  return new BaxError('browser_failed', `the browser did not start: ${why}`, {
    cause,
    hint: `run "bax doctor" to see what ${path} is missing`,
    unavailable: true,
    ...(stderr && { details: { stderr } }),
  })
}

function watch(child: ChildProcess, folder: string, { windows, share }: WatchFacts): BrowserProcess {
  const lastLines: string[] = []
  child.stderr!.setEncoding('utf8').on('data', (text: string) => {
    lastLines.push(...text.split('\n').filter((line) => line.trim() !== ''))
    lastLines.splice(0, lastLines.length - stderrLines)
  })
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const sharing = share?.shares.join(child.pid!, share.owner)
  if (sharing) void exited.then(() => sharing.leave())
  const input = child.stdio[3] as Writable
  const output = child.stdio[4] as Readable
  const kill = () => {
    try {
      process.kill(windows ? child.pid! : -child.pid!, 'SIGKILL')
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
    }
  }
  let ending: Promise<void> | undefined
  const end = async () => {
    input.destroy()
    output.destroy()
    const timer = setTimeout(kill, limits.pool.exitMs)
    await exited
    clearTimeout(timer)
    await rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 })
  }
  return {
    folder,
    input,
    output,
    exited,
    sharing,
    lastWords: () => lastLines.join('\n'),
    end: () => (ending ??= end()),
  }
}
