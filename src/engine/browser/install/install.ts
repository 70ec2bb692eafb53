/** Installs Chromium on this machine: Debian's packages, Playwright's download, or a portable build from npm. */
import { spawn } from 'node:child_process'
import { createRequire } from 'node:module'
import { arch, platform } from 'node:os'
import { dirname, join } from 'node:path'
// Installers inherit the environment of this process.
import { env, execPath } from 'node:process'
import { createInterface } from 'node:readline'
import { proxyEnvironment, type ProxySettings, proxyVariables } from '../../../core/config/proxy-settings.ts'
import { BaxError } from '../../../core/errors/errors.ts'
import { type BrowserFlavour, locateBrowser } from './locate.ts'
import { installPortable } from './portable-chromium.ts'

export interface InstallOptions {
  readonly cacheDir: string
  /** Called before an installer runs, with what it installs and for which purpose. */
  readonly announce: (text: string) => void
  readonly report: (line: string) => void
  readonly signal?: AbortSignal
  /** Install a full Chromium too; it may be missing from the result. */
  readonly full?: boolean
  /** Proxies for the installers. */
  readonly proxies: ProxySettings | undefined
}

interface InstallAttempt {
  readonly step: 'playwright' | 'apt' | 'npm'
  readonly wanted: readonly BrowserFlavour[]
  readonly done: boolean
  readonly problem?: string
}

interface Step {
  readonly name: InstallAttempt['step']
  readonly title: string
  /** Returns which of the missing browsers the step can install. */
  readonly provides: (missing: readonly BrowserFlavour[]) => readonly BrowserFlavour[]
  /** Installs browsers; resolves with the problem, undefined on success. */
  readonly run: (missing: readonly BrowserFlavour[], program: RunProgram) => Promise<string | undefined>
}

const purposes: Record<BrowserFlavour, string> = {
  'headless-shell': 'headless shell (sessions, scraping)',
  chromium: 'full Chromium (disable_automation_detection, browser windows)',
}

/** Installs the missing browsers. @throws BaxError `browser_not_found` with all attempts when none succeeds. */
export async function installBrowser({ cacheDir, announce, report, signal, full, proxies }: InstallOptions) {
  const run = programRunner(report, signal, {
    ...Object.fromEntries(Object.entries(env).filter(([name]) => !proxyVariables.test(name))),
    ...proxyEnvironment(proxies),
    PLAYWRIGHT_DOWNLOAD_CONNECTION_TIMEOUT: '10000',
    DEBIAN_FRONTEND: 'noninteractive',
  })
  const attempts: InstallAttempt[] = []
  let found = await findBrowsers(cacheDir)
  for (const { name, title, provides, run: attempt } of steps(cacheDir)) {
    const absent = [!found.headless && 'headless-shell', full && !found.full && 'chromium'] as const
    const missing = provides(absent.filter((kind) => typeof kind === 'string'))
    if (missing.length === 0) continue
    announce(`installing the ${missing.map((kind) => purposes[kind]).join(' and the ')}: ${title}`)
    const problem = await attempt(missing, run)
    signal?.throwIfAborted()
    attempts.push({ step: name, wanted: missing, done: problem === undefined, ...(problem && { problem }) })
    report(problem === undefined ? `${title}: done` : `${title}: ${problem}`)
    found = await findBrowsers(cacheDir)
  }
  if (!found.headless) {
    throw new BaxError('browser_not_found', 'no Chromium could be installed', {
      hint: 'install Chromium or Google Chrome manually; if bax does not find it, set --browser or BAX_BROWSER',
      details: { attempts },
    })
  }
  return { attempts, browser: found.headless, ...(found.full && { full: found.full }) }
}

async function findBrowsers(cacheDir: string) {
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

/** Package names, which are the same in Debian and Playwright. */
const packageNames = (wanted: readonly BrowserFlavour[]): string[] =>
  wanted.map((kind) => (kind === 'chromium' ? 'chromium' : 'chromium-headless-shell'))

function steps(cacheDir: string): Step[] {
  const linux = platform() === 'linux'
  const root = process.getuid?.() === 0
  return [
    // First, since it also installs the libraries that a minimal system lacks.
    {
      name: 'apt',
      title: "Debian's packages",
      provides: (wanted) => (linux && root ? wanted : []),
      run: async (wanted, program) => {
        // Package lists may be missing or old. If the update fails, try with the existing lists.
        await program('apt-get', ['update'])
        const install = ['install', '-y', '--no-install-recommends']
        return program('apt-get', [...install, ...packageNames(wanted), 'fonts-liberation'])
      },
    },
    {
      name: 'playwright',
      title: "Playwright's download",
      provides: (wanted) => wanted,
      run: async (wanted, program) => {
        const cli = join(dirname(createRequire(import.meta.url).resolve('playwright/package.json')), 'cli.js')
        return program(execPath, [cli, 'install', ...packageNames(wanted)])
      },
    },
    {
      name: 'npm',
      title: 'the portable Chromium from npm',
      provides: (wanted) => (linux && arch() === 'x64' ? wanted.filter((kind) => kind === 'headless-shell') : []),
      run: (_, program) => installPortable(cacheDir, program),
    },
  ]
}

/** Runs a program; resolves with the reason if it fails, from its output or its start. */
export type RunProgram = (program: string, args: readonly string[]) => Promise<string | undefined>

/** Returns a runner that reports every line of output; aborting the signal ends the program and rejects. */
function programRunner(
  report: (line: string) => void,
  signal: AbortSignal | undefined,
  env: NodeJS.ProcessEnv,
): RunProgram {
  return (program, args) =>
    new Promise((resolve, reject) => {
      const child = spawn(program, args, {
        stdio: ['ignore', 'pipe', 'pipe'],
        env,
        ...(signal && { signal }),
      })
      const lines: string[] = []
      const onLine = (line: string) => {
        const text = line.trim()
        if (text === '') return
        lines.push(text)
        report(`  ${text}`)
      }
      createInterface({ input: child.stdout }).on('line', onLine)
      createInterface({ input: child.stderr }).on('line', onLine)
      child.once('error', (error: NodeJS.ErrnoException) => {
        if (signal?.aborted) return reject(signal.reason as Error)
        resolve(error.code === 'ENOENT' ? `${program} is not installed` : error.message)
      })
      child.once('close', (code) => {
        const errorLine = lines.findLast((each) => /error|fail|unable|E:/i.test(each)) ?? lines.at(-1)
        resolve(code === 0 ? undefined : (errorLine ?? `${program} ended with code ${code}`))
      })
    })
}
