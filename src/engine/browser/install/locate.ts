/** Locates Chromium on this machine, and records all checked locations. */
import { constants } from 'node:fs'
import { access, readdir, readFile, stat } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { homedir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
// The installed programs depend only on the environment, not on the configuration of bax.
import { env, platform } from 'node:process'
import { BaxError } from '../../../core/errors/errors.ts'

/** Kind of executable: the headless shell or a full Chromium. */
export type BrowserFlavour = 'headless-shell' | 'chromium'

export interface BrowserNeed {
  readonly headless: boolean
  /**
   * Needs a full Chromium. The headless shell has no plugins, PDF viewer or `window.chrome`, sends no Accept-Language,
   * and denies notifications at once; scripts that imitate these can be detected themselves.
   */
  readonly stealth: boolean
}

interface CheckedLocation {
  readonly where: string
  readonly found: boolean
  readonly note?: string
}

interface Candidate {
  readonly path: string
  readonly kind: BrowserFlavour
  /** Where it was found: `configured`, `playwright`, `system` or `bax`. */
  readonly source: string
}

export interface LocatedBrowser extends Candidate {
  readonly looked: readonly CheckedLocation[]
}

/** Locates a browser. @throws BaxError `browser_not_found` with the checked locations. */
export async function locateBrowser(
  need: BrowserNeed,
  config: { readonly browser?: string; readonly cacheDir: string },
): Promise<LocatedBrowser> {
  if (config.browser !== undefined) return configured(config.browser, need)
  const looked: CheckedLocation[] = []
  const flavours: BrowserFlavour[] = needsFull(need) ? ['chromium'] : ['headless-shell', 'chromium']
  for (const locations of [playwrightLocations, systemLocations, baxLocations]) {
    for (const kind of flavours) {
      for (const candidate of await locations(kind, config.cacheDir)) {
        const note = await unusable(candidate.path)
        looked.push({ where: candidate.path, found: note === undefined, ...(note && { note }) })
        if (note === undefined) return { ...candidate, looked }
      }
    }
  }
  throw notFound(need, looked)
}

async function configured(path: string, need: BrowserNeed): Promise<LocatedBrowser> {
  const note = await unusable(path)
  const kind: BrowserFlavour = /headless[-_]shell/.test(path) ? 'headless-shell' : 'chromium'
  const looked = [{ where: path, found: note === undefined, ...(note && { note }) }]
  if (note !== undefined) {
    throw new BaxError('browser_not_found', `the configured browser cannot be used: ${note}`, {
      hint: `${path} is configured: set --browser or BAX_BROWSER to a Chromium executable, or unset it`,
      details: { looked },
      unavailable: true,
    })
  }
  if (kind === 'headless-shell' && needsFull(need)) {
    const message = `the configured browser is a headless shell; ${purposeOf(need)} needs a full Chromium`
    throw new BaxError('browser_not_found', message, {
      hint: `${path} is configured: set --browser or BAX_BROWSER to a full Chromium or Chrome`,
      details: { looked },
      unavailable: true,
    })
  }
  return { path, kind, source: 'configured', looked }
}

/** Returns why a file is not an executable program; undefined when it is one. */
async function unusable(path: string): Promise<string | undefined> {
  try {
    if (!(await stat(path)).isFile()) return 'is not a file'
    await access(path, constants.X_OK)
    return undefined
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return 'does not exist'
    if (code === 'EACCES') return 'is not executable'
    return code ?? (error as Error).message
  }
}

/** Returns the locations of Playwright's downloads, from its list of revisions, without loading Playwright. */
async function playwrightLocations(kind: BrowserFlavour): Promise<Candidate[]> {
  const name = kind === 'chromium' ? 'chromium' : 'chromium_headless_shell'
  const folder = join(playwrightFolder(), `${name}-${await playwrightRevision(kind)}`)
  const system = platform === 'win32' || platform === 'darwin' ? platform : 'linux'
  const inside = playwrightExecutables[kind][system]
  return inside.map((path) => ({ path: join(folder, path), kind, source: 'playwright' }))
}

const playwrightExecutables = {
  chromium: {
    linux: ['chrome-linux64/chrome', 'chrome-linux/chrome'],
    darwin: ['arm64', 'x64'].map(
      (cpu) => `chrome-mac-${cpu}/Google Chrome for Testing.app/Contents/MacOS/Google Chrome for Testing`,
    ),
    win32: ['chrome-win64/chrome.exe', 'chrome-win/chrome.exe'],
  },
  'headless-shell': {
    linux: ['chrome-headless-shell-linux64/chrome-headless-shell', 'chrome-linux/headless_shell'],
    darwin: ['arm64', 'x64'].map((cpu) => `chrome-headless-shell-mac-${cpu}/chrome-headless-shell`),
    win32: ['chrome-headless-shell-win64/chrome-headless-shell.exe'],
  },
} as const satisfies Record<BrowserFlavour, Record<'linux' | 'darwin' | 'win32', readonly string[]>>

function playwrightFolder(): string {
  const configuredPath = env['PLAYWRIGHT_BROWSERS_PATH']
  if (configuredPath && configuredPath !== '0') return configuredPath
  if (platform === 'darwin') return join(homedir(), 'Library/Caches/ms-playwright')
  if (platform === 'win32') return join(env['LOCALAPPDATA'] ?? join(homedir(), 'AppData', 'Local'), 'ms-playwright')
  return join(env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'ms-playwright')
}

async function playwrightRevision(kind: BrowserFlavour): Promise<string> {
  const load = createRequire(import.meta.url)
  // Only playwright is sure to resolve from here; playwright-core is its dependency.
  const core = createRequire(load.resolve('playwright/package.json')).resolve('playwright-core/package.json')
  const { browsers } = JSON.parse(await readFile(join(dirname(core), 'browsers.json'), 'utf8')) as {
    browsers: { name: string; revision: string }[]
  }
  const name = kind === 'chromium' ? 'chromium' : 'chromium-headless-shell'
  return browsers.find((browser) => browser.name === name)?.revision ?? 'unknown'
}

const systemNames: Record<BrowserFlavour, readonly string[]> = {
  'headless-shell': ['chromium-headless-shell', 'chrome-headless-shell'],
  chromium: ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome', 'microsoft-edge'],
}

async function systemLocations(kind: BrowserFlavour): Promise<Candidate[]> {
  const known = kind === 'chromium' ? installedApplications() : []
  const folders = (env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '')
  const names = systemNames[kind].map((name) => (platform === 'win32' ? `${name}.exe` : name))
  const inPath = await Promise.all(names.map((name) => firstIn(folders, name)))
  return [...inPath, ...known].map((path) => ({ path, kind, source: 'system' }))
}

/** Returns the program's path in the first folder that has it, or the bare name as a checked location. */
async function firstIn(folders: readonly string[], name: string): Promise<string> {
  for (const folder of folders) {
    const path = join(folder, name)
    if ((await unusable(path)) === undefined) return path
  }
  return name
}

function installedApplications(): string[] {
  if (platform === 'darwin') {
    return ['Chromium', 'Google Chrome', 'Microsoft Edge'].map(
      (name) => `/Applications/${name}.app/Contents/MacOS/${name}`,
    )
  }
  if (platform !== 'win32') return []
  const roots = ['PROGRAMFILES', 'PROGRAMFILES(X86)', 'LOCALAPPDATA'].flatMap((name) => env[name] ?? [])
  const applications = [
    'Google/Chrome/Application/chrome.exe',
    'Chromium/Application/chrome.exe',
    'Microsoft/Edge/Application/msedge.exe',
  ]
  return roots.flatMap((root) => applications.map((application) => join(root, application)))
}

/** Returns the locations that `bax setup` unpacks to: `<cache>/browsers/<name>/{headless-shell,chromium}`. */
async function baxLocations(kind: BrowserFlavour, cacheDir: string): Promise<Candidate[]> {
  const folder = join(cacheDir, 'browsers')
  const names = await readdir(folder).catch(() => [])
  const locations = names.length > 0 ? names.toSorted().toReversed() : ['*']
  return locations.map((name) => ({ path: join(folder, name, kind), kind, source: 'bax' }))
}

const needsFull = ({ headless, stealth }: BrowserNeed): boolean => stealth || !headless

/** Names the feature that needs a full Chromium. */
const purposeOf = ({ stealth }: BrowserNeed): string => (stealth ? 'disable_automation_detection' : 'a browser window')

function notFound(need: BrowserNeed, looked: readonly CheckedLocation[]): BaxError {
  const full = needsFull(need)
  const name = full ? 'chromium' : 'chromium-headless-shell'
  const message = full ? `no full Chromium was found; ${purposeOf(need)} needs one` : 'no Chromium was found'
  return new BaxError('browser_not_found', message, {
    hint: `run one of: bax setup\n  apt-get install -y ${name} fonts-liberation\n  npx playwright install ${name}`,
    details: { looked },
    unavailable: true,
  })
}
