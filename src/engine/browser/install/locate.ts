/** Finds a Chromium on this machine, noting every place looked at. */
import { constants } from 'node:fs'
import { access, readdir, readFile, stat } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { homedir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
// Which programs a machine offers is told by its environment alone, whatever bax is configured to.
import { env, platform } from 'node:process'
import { BaxError } from '../../../core/errors/errors.ts'

/** Whether the executable is the headless shell or a whole Chromium. */
export type BrowserFlavour = 'headless-shell' | 'chromium'

export interface BrowserNeed {
  readonly headless: boolean
  /**
   * Needs a full Chromium. The headless shell has no plugins, PDF viewer or `window.chrome`, sends no Accept-Language,
   * and denies notifications at once; scripts that imitate these can be detected themselves.
   */
  readonly stealth: boolean
}

interface LookedAt {
  readonly where: string
  readonly found: boolean
  readonly note?: string
}

export interface LocatedBrowser {
  readonly path: string
  readonly kind: BrowserFlavour
  /** Which step found it: `configured`, `playwright`, `system` or `bax`. */
  readonly source: string
  readonly looked: readonly LookedAt[]
}

interface Candidate {
  readonly path: string
  readonly kind: BrowserFlavour
  readonly source: string
}

/** @throws BaxError `browser_not_found` with the places looked at, or naming the configured browser that cannot be used. */
export async function locateBrowser(
  need: BrowserNeed,
  config: { readonly browser?: string; readonly cacheDir: string },
): Promise<LocatedBrowser> {
  if (config.browser !== undefined) return configured(config.browser, need)
  const looked: LookedAt[] = []
  const flavours: BrowserFlavour[] = need.headless && !need.stealth ? ['headless-shell', 'chromium'] : ['chromium']
  for (const places of [playwrightPlaces, systemPlaces, baxPlaces]) {
    for (const kind of flavours) {
      for (const candidate of await places(kind, config.cacheDir)) {
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
      hint: `it is ${path}: give --browser or BAX_BROWSER the path of a Chromium executable, or leave it out`,
      details: { looked },
    })
  }
  if (kind === 'headless-shell' && (need.stealth || !need.headless)) {
    throw new BaxError(
      'browser_not_found',
      `the configured browser is a headless shell; ${purposeOf(need)} needs a full Chromium`,
      {
        hint: `it is ${path}: give --browser or BAX_BROWSER the path of a full Chromium or Chrome`,
        details: { looked },
      },
    )
  }
  return { path, kind, source: 'configured', looked }
}

/** Why a file is no program that we may run; undefined when it is one. */
async function unusable(path: string): Promise<string | undefined> {
  try {
    if (!(await stat(path)).isFile()) return 'is not a file'
    await access(path, constants.X_OK)
    return undefined
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return 'does not exist'
    if (code === 'EACCES') return 'may not be executed'
    return code ?? (error as Error).message
  }
}

/** Playwright's own downloads, from its list of revisions: asking Playwright itself would load it before it is needed. */
async function playwrightPlaces(kind: BrowserFlavour): Promise<Candidate[]> {
  const registry = playwrightFolder()
  const revision = await playwrightRevision(kind)
  const folder = join(registry, `${kind === 'chromium' ? 'chromium' : 'chromium_headless_shell'}-${revision}`)
  const inside =
    playwrightExecutables[kind][platform === 'win32' ? 'win32' : platform === 'darwin' ? 'darwin' : 'linux']
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
  const chosen = env['PLAYWRIGHT_BROWSERS_PATH']
  if (chosen && chosen !== '0') return chosen
  if (platform === 'darwin') return join(homedir(), 'Library/Caches/ms-playwright')
  if (platform === 'win32') return join(env['LOCALAPPDATA'] ?? join(homedir(), 'AppData', 'Local'), 'ms-playwright')
  return join(env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'ms-playwright')
}

async function playwrightRevision(kind: BrowserFlavour): Promise<string> {
  const load = createRequire(import.meta.url)
  // playwright-core is a dependency of playwright, which alone is sure to be found from here.
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

async function systemPlaces(kind: BrowserFlavour): Promise<Candidate[]> {
  const known = kind === 'chromium' ? installedApplications() : []
  const folders = (env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '')
  const names = systemNames[kind].map((name) => (platform === 'win32' ? `${name}.exe` : name))
  const inPath = await Promise.all(names.map((name) => firstIn(folders, name)))
  return [...inPath, ...known].map((path) => ({ path, kind, source: 'system' }))
}

/** The first folder that has the program; the bare name when none has, for the record. */
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
  const roots = [env['PROGRAMFILES'], env['PROGRAMFILES(X86)'], env['LOCALAPPDATA']].filter(
    (root) => root !== undefined,
  )
  const applications = [
    'Google/Chrome/Application/chrome.exe',
    'Chromium/Application/chrome.exe',
    'Microsoft/Edge/Application/msedge.exe',
  ]
  return roots.flatMap((root) => applications.map((application) => join(root, application)))
}

/** What `bax setup` unpacked: `<cache>/browsers/<name>/{headless-shell,chromium}`. */
async function baxPlaces(kind: BrowserFlavour, cacheDir: string): Promise<Candidate[]> {
  const folder = join(cacheDir, 'browsers')
  const names = await readdir(folder).catch(() => [] as string[])
  const places = names.length > 0 ? names.toSorted().toReversed() : ['*']
  return places.map((name) => ({ path: join(folder, name, kind), kind, source: 'bax' }))
}

/** What a full Chromium is needed for. */
const purposeOf = ({ stealth }: BrowserNeed): string => (stealth ? 'disable_automation_detection' : 'a browser window')

function notFound(need: BrowserNeed, looked: readonly LookedAt[]): BaxError {
  const full = need.stealth || !need.headless
  const name = full ? 'chromium' : 'chromium-headless-shell'
  const message = full ? `no full Chromium was found; ${purposeOf(need)} needs one` : 'no Chromium was found'
  return new BaxError('browser_not_found', message, {
    hint: [
      'run one of: bax setup',
      `apt-get install -y ${name} fonts-liberation`,
      `npx playwright install ${name}`,
    ].join('\n  '),
    details: { looked },
  })
}
