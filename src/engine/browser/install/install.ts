/** Installs Chromium on this machine: Debian's packages, Playwright's download, or a portable build from npm. */
import { createRequire } from 'node:module'
import { arch, platform } from 'node:os'
import { dirname, join } from 'node:path'
// Installers are given the environment that this process has, proxies and all.
import { env, execPath } from 'node:process'
import { BaxError } from '../../../core/errors/errors.ts'
import { type BrowserFlavour, type LocatedBrowser, locateBrowser } from './locate.ts'
import { installPortable } from './portable-chromium.ts'
import { programRunner, type RunProgram } from './run-program.ts'

export interface InstallOptions {
  readonly cacheDir: string
  /** Called before an installer runs, with what it installs and what for. */
  readonly announce: (text: string) => void
  /** Called with every line of progress. */
  readonly report: (line: string) => void
  readonly signal?: AbortSignal
  /** Install a full Chromium too; it may be missing from the result. */
  readonly full?: boolean
}

interface InstallAttempt {
  readonly step: 'playwright' | 'apt' | 'npm'
  readonly wanted: readonly BrowserFlavour[]
  readonly done: boolean
  readonly problem?: string
}

export interface Installed {
  readonly attempts: readonly InstallAttempt[]
  /** The browser for headless work. */
  readonly browser: LocatedBrowser
  /** The whole Chromium, where one was asked for and found. */
  readonly full?: LocatedBrowser
}

interface Step {
  readonly name: InstallAttempt['step']
  readonly title: string
  /** Which of the wanted ones it can bring here. */
  readonly brings: (wanted: readonly BrowserFlavour[]) => readonly BrowserFlavour[]
  /** What went wrong; undefined when nothing did. */
  readonly run: (wanted: readonly BrowserFlavour[], program: RunProgram) => Promise<string | undefined>
}

const purposes: Record<BrowserFlavour, string> = {
  'headless-shell': 'headless shell (sessions, scraping)',
  chromium: 'full Chromium (disable_automation_detection, browser windows)',
}

/** @throws BaxError `browser_not_found` with every attempt when there is no browser for headless work in the end. */
export async function installBrowser({ cacheDir, announce, report, signal, full }: InstallOptions): Promise<Installed> {
  const run = programRunner(report, signal, {
    ...env,
    PLAYWRIGHT_DOWNLOAD_CONNECTION_TIMEOUT: '10000',
    DEBIAN_FRONTEND: 'noninteractive',
  })
  const attempts: InstallAttempt[] = []
  let found = await look(cacheDir)
  for (const { name, title, brings, run: attempt } of steps(cacheDir)) {
    const missing = brings(lacking(found, full ?? false))
    if (missing.length === 0) continue
    announce(`installing the ${missing.map((kind) => purposes[kind]).join(' and the ')}: ${title}`)
    const problem = await attempt(missing, run)
    signal?.throwIfAborted()
    attempts.push({ step: name, wanted: missing, done: problem === undefined, ...(problem && { problem }) })
    report(problem === undefined ? `${title}: done` : `${title}: ${problem}`)
    found = await look(cacheDir)
  }
  if (!found.headless) {
    throw new BaxError('browser_not_found', 'no Chromium could be installed', {
      hint: 'install Chromium or Google Chrome by hand, and name it with --browser or BAX_BROWSER where it is not found',
      details: { attempts },
    })
  }
  return { attempts, browser: found.headless, ...(found.full && { full: found.full }) }
}

interface Found {
  readonly headless: LocatedBrowser | undefined
  readonly full: LocatedBrowser | undefined
}

async function look(cacheDir: string): Promise<Found> {
  const [headless, full] = await Promise.all(
    [false, true].map((stealth) =>
      locateBrowser({ headless: true, stealth }, { cacheDir }).catch((error: BaxError) => {
        if (error.code !== 'browser_not_found') throw error
        return undefined
      }),
    ),
  )
  return { headless, full }
}

const lacking = (found: Found, full: boolean): BrowserFlavour[] => [
  ...(found.headless ? [] : ['headless-shell' as const]),
  ...(full && !found.full ? ['chromium' as const] : []),
]

/** Debian and Playwright use the same names. */
const packageNames = (wanted: readonly BrowserFlavour[]): string[] =>
  wanted.map((kind) => (kind === 'chromium' ? 'chromium' : 'chromium-headless-shell'))

function steps(cacheDir: string): Step[] {
  const linux = platform() === 'linux'
  const root = process.getuid?.() === 0
  return [
    // First where it can be used: it brings the libraries too, which a minimal system lacks.
    {
      name: 'apt',
      title: "Debian's packages",
      brings: (wanted) => (linux && root ? wanted : []),
      run: async (wanted, program) => {
        // Lists of packages may be missing or old, and old ones name old browsers. Where they cannot be updated, they must do.
        await program('apt-get', ['update'])
        const install = ['install', '-y', '--no-install-recommends']
        return (await program('apt-get', [...install, ...packageNames(wanted), 'fonts-liberation'])).problem
      },
    },
    {
      name: 'playwright',
      title: "Playwright's download",
      brings: (wanted) => wanted,
      run: async (wanted, program) => {
        const cli = join(dirname(createRequire(import.meta.url).resolve('playwright/package.json')), 'cli.js')
        return (await program(execPath, [cli, 'install', ...packageNames(wanted)])).problem
      },
    },
    {
      name: 'npm',
      title: 'the portable Chromium from npm',
      brings: (wanted) => (linux && arch() === 'x64' ? wanted.filter((kind) => kind === 'headless-shell') : []),
      run: (_, program) => installPortable(cacheDir, program),
    },
  ]
}
