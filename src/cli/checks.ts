/** Checks of this machine for `bax doctor`. */
import { systemCode } from '../core/errors/system-errors.ts'
import { mappingOf } from '../core/text/is-mapping.ts'
import { execFile } from 'node:child_process'
import { access, constants, mkdtemp, rm, stat, statfs } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { asBaxError, messageOf } from '../core/errors/errors.ts'
import { lacksSandbox, sandboxHint, sandboxWarning } from '../core/process/sandbox.ts'
import { damagedFiles } from '../core/state/state-check.ts'
import { localFiles } from '../core/state/local-files.ts'
import { explainDir } from '../core/state/state-dir.ts'
import { hasDisplay } from './engine/engine-config.ts'
import { installationOf } from './installation/installation.ts'
import { shownProxy } from '../core/config/proxy-settings.ts'
import { isByPages, searchOrder, variablesOfApis } from '../core/config/search-providers.ts'
import type { Io } from './io.ts'
import type { Settings } from '../core/config/settings.ts'
import { succeeds } from '../core/succeeds.ts'

export interface Check {
  readonly name: string
  readonly ok: boolean
  /** Whether bax requires it. */
  readonly needed: boolean
  readonly found: string
  /** How to fix a failed check. */
  readonly mend?: string
  /** Features that need it. */
  readonly serves?: readonly string[]
  /** Places that were inspected without success. */
  readonly looked?: readonly string[]
}

const minNodeVersion = 20

export async function checkNode({ host }: Io): Promise<Check> {
  const ok = Number(host.nodeVersion.replace(/^v/, '').split('.')[0]) >= minNodeVersion
  const mend = `install Node ${minNodeVersion} or newer`
  return { name: 'node', needed: true, ok, found: host.nodeVersion, ...(!ok && { mend }) }
}

export async function checkBrowser(settings: Settings, need: { headless: boolean; stealth: boolean }): Promise<Check> {
  const head = need.stealth
    ? { name: 'full Chromium', needed: false, serves: ['disable_automation_detection', 'browser windows'] }
    : { name: 'browser', needed: true, serves: ['headless sessions', 'scrape', 'crawl', 'search'] }
  const { locateBrowser } = await import('../engine/browser/install/locate.ts')
  const { cacheDir, browser } = settings
  try {
    const { path, kind, source } = await locateBrowser(need, { cacheDir, ...(browser && { browser }) })
    return { ...head, ...(await checkVersion(path, `${kind}, ${source}`)) }
  } catch (thrown) {
    const error = asBaxError(thrown)
    const { looked = [] } = (error.details ?? {}) as { looked?: { where: string; note?: string }[] }
    return {
      ...head,
      ok: false,
      found: error.message,
      ...(error.hint && { mend: error.hint }),
      looked: looked.map(({ where, note }) => (note ? `${where}: ${note}` : where)),
    }
  }
}

/** Starts a browser to get its version, which also reveals missing libraries. */
async function checkVersion(path: string, facts: string): Promise<Pick<Check, 'ok' | 'found' | 'mend'>> {
  // On Windows, Chrome would open a window instead.
  if (process.platform === 'win32') return { ok: true, found: `${path} (${facts})` }
  try {
    const { stdout } = await promisify(execFile)(path, ['--version'], { timeout: versionMs })
    return { ok: true, found: `${path} (${facts}, ${/[\d.]{4,}/.exec(stdout)?.[0] ?? 'unknown version'})` }
  } catch (thrown) {
    const why = stderrOf(thrown).trim().split('\n').at(-1) || messageOf(thrown)
    return {
      ok: false,
      found: `${path} (${facts}) does not start: ${why}`,
      mend: 'run "npx playwright install-deps chromium" to install missing libraries',
    }
  }
}

/** Returns what a failed program has printed to standard error. */
const stderrOf = (thrown: unknown): string => String(mappingOf(thrown)['stderr'] ?? '')

/** Timeout for a program to print its version, in milliseconds. */
const versionMs = 20_000

export async function checkDisplay(io: Io): Promise<Check> {
  const ok = hasDisplay(io)
  return {
    name: 'display',
    needed: false,
    ok,
    found: ok ? (io.env['DISPLAY'] ?? io.env['WAYLAND_DISPLAY'] ?? 'the desktop') : 'none; every session runs headless',
    ...(!ok && { mend: 'set DISPLAY, or start bax under xvfb-run, to use browser windows' }),
  }
}

/** Checks if browsers of this user run with Chromium's sandbox, without which only root starts them. */
export async function checkSandbox(settings: Settings, { host }: Io): Promise<Check> {
  const head = { name: 'sandbox', needed: false }
  if (lacksSandbox(host.uid)) return { ...head, ok: false, found: sandboxWarning, mend: sandboxHint }
  if (host.platform !== 'linux' || (await canSandbox(settings))) return { ...head, ok: true, found: "Chromium's own" }
  return {
    ...head,
    needed: true,
    ok: false,
    found: 'no browser starts, because this user may not create user namespaces',
    mend: 'allow them: in a container with the seccomp profile of "bax help deployment", on Ubuntu with sysctl kernel.apparmor_restrict_unprivileged_userns=0',
  }
}

/** Returns whether a browser starts with its sandbox. Other reasons not to start are reported by `checkBrowser`. */
async function canSandbox({ cacheDir, browser }: Settings): Promise<boolean> {
  const { locateBrowser } = await import('../engine/browser/install/locate.ts')
  const need = { headless: true, stealth: false }
  const found = await locateBrowser(need, { cacheDir, ...(browser && { browser }) }).catch(() => undefined)
  if (!found) return true
  const folder = await mkdtemp(join(tmpdir(), 'bax-doctor-'))
  const args = ['--headless', '--disable-gpu', `--user-data-dir=${folder}`, '--dump-dom', 'about:blank']
  try {
    await promisify(execFile)(found.path, args, { timeout: versionMs })
    return true
  } catch (thrown) {
    return !/no usable sandbox/i.test(stderrOf(thrown))
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** Minimum disk space for a browser, in bytes. */
const minFreeBytes = 100 * 1024 * 1024

export async function checkStateDir({ stateDir }: Settings): Promise<Check> {
  const head = { name: 'state folder', needed: true }
  try {
    const existing = await nearestExisting(stateDir)
    await access(existing, constants.W_OK | constants.X_OK)
    const { bavail, bsize } = await statfs(existing)
    if (bavail * bsize < minFreeBytes) {
      const found = `${stateDir}: only ${Math.floor((bavail * bsize) / 1024 / 1024)} MB are free`
      return { ...head, ok: false, found, mend: 'free disk space, or choose another folder with --state-dir' }
    }
    return { ...head, ok: true, found: stateDir }
  } catch (thrown) {
    const error = explainDir(thrown, stateDir)
    return { ...head, ok: false, found: error.message, ...(error.hint && { mend: error.hint }) }
  }
}

/** Checks for damaged state files. */
export async function checkStateFiles({ stateDir }: Settings): Promise<Check> {
  const head = { name: 'state files', needed: false }
  const damaged = damagedFiles(stateDir)
  if (damaged.length === 0) return { ...head, ok: true, found: 'none damaged' }
  return {
    ...head,
    ok: false,
    found: `${damaged.length} damaged in ${stateDir}`,
    mend: `${damaged.map(({ file, why }) => `${file} ${why}\n`).join('')}restore them from a backup, or delete them`,
  }
}

/** Names the key that encrypts credentials. */
export async function checkVault({ stateDir, vaultKey }: Settings): Promise<Check> {
  const head = { name: 'credentials', needed: false }
  if (vaultKey !== undefined) return { ...head, ok: true, found: 'encrypted with BAX_VAULT_KEY' }
  const file = localFiles(stateDir).vaultKey
  const mode = await stat(file).then(
    (found) => found.mode & 0o777,
    () => undefined,
  )
  if (mode === undefined) return { ...head, ok: true, found: `none yet; the first one creates their key in ${file}` }
  const isPrivate = process.platform === 'win32' || (mode & 0o077) === 0
  const found = `encrypted with the key in ${file}`
  if (isPrivate) return { ...head, ok: true, found }
  return { ...head, ok: false, found: `${found}, which other users can read`, mend: `run "chmod 600 ${file}"` }
}

/** Checks if commands run in warm processes of the engine: `bax --version` has to, where no Node can be found. */
export async function checkLauncher({ host, env, cwd }: Io): Promise<Check> {
  const head = { name: 'launcher', needed: false }
  const path = host.launcher
  if (path === undefined || !(await exists(path))) {
    const canBuild = host.platform === 'linux' && installationOf({ host }).kind !== 'single file'
    const mend = canBuild ? 'install gcc and libc6-dev, then build bax again' : undefined
    return { ...head, ok: false, found: 'none in this build: every command starts Node', ...(mend && { mend }) }
  }
  try {
    const without = { ...env, PATH: '/nonexistent', BAX_EXPLAIN_LAUNCHER: '1' }
    await promisify(execFile)(path, ['--version'], { cwd, env: without, timeout: versionMs })
    return { ...head, ok: true, found: `${path}: commands run in warm processes of the engine` }
  } catch (thrown) {
    const reason = /^launcher: (.*)/m.exec(stderrOf(thrown))?.[1] ?? messageOf(thrown).split('\n')[0]
    return { ...head, ok: true, found: `${path}: commands start Node now, because ${reason}` }
  }
}

const exists = (path: string) => succeeds(access(path))

/** Returns the folder, or the closest existing folder above it. */
async function nearestExisting(path: string): Promise<string> {
  const found = await stat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw error
  })
  if (!found) return nearestExisting(dirname(path))
  if (!found.isDirectory()) throw Object.assign(new Error(`${path} is not a folder`), { code: 'ENOTDIR' })
  return path
}

/** Reports the proxies of the environment, without their passwords. */
export async function checkProxies({ proxies, noProxy }: Settings): Promise<Check> {
  const head = { name: 'proxies', needed: false, ok: true }
  if (!proxies) return { ...head, found: noProxy ? 'ignored (--no-proxy or BAX_NO_PROXY)' : 'none in the environment' }
  const { http, https, except } = proxies
  const texts = Object.entries({ http, https }).flatMap(([scheme, proxy]) =>
    proxy ? `${scheme} through ${shownProxy(proxy.url)} (${proxy.variable})` : `${scheme} directly`,
  )
  return { ...head, found: `${texts.join(', ')}${except && `, except ${except}`}` }
}

/** Checks if a search API is configured; without one, result pages of search engines are scraped. */
export async function checkSearch({ search = {} }: Settings): Promise<Check> {
  const names = searchOrder(search)
  const byKey = names.filter((name) => !isByPages(name))
  const mend = `set ${variablesOfApis(' and ')} to use a search API`
  const found = `${names.join(', ')}${byKey.length === 0 ? ' (result pages, which often block programs)' : ''}`
  return { name: 'search', needed: false, ok: byKey.length > 0, found, ...(byKey.length === 0 && { mend }) }
}

export async function checkDocker({ shell = {} }: Settings): Promise<Check> {
  const address = shell.dockerHost ?? 'unix:///var/run/docker.sock'
  const head = { name: 'docker', needed: false }
  if (!address.startsWith('unix://')) return { ...head, ok: true, found: address }
  const path = address.slice('unix://'.length)
  try {
    await access(path, constants.R_OK | constants.W_OK)
    return { ...head, ok: true, found: path }
  } catch (error) {
    const denied = systemCode(error) === 'EACCES'
    return {
      ...head,
      ok: false,
      found: denied ? `no permission to open ${path}` : `no socket at ${path}`,
      mend: denied ? 'add yourself to the docker group' : 'install and start Docker or Podman to use shell sessions',
    }
  }
}
