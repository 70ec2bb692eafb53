/** Command-line switches of Chromium: those that Playwright passes, without those that only its own builds support. */

export type BrowserKind = 'headless' | 'stealth' | 'headful' | 'headful-stealth'

/** Returns whether browsers of this kind show windows on a display. */
export const hasWindows = (kind: BrowserKind): boolean => kind === 'headful' || kind === 'headful-stealth'

/** Returns whether browsers of this kind hide from pages that they are automated. */
export const hidesAutomation = (kind: BrowserKind): boolean => kind === 'stealth' || kind === 'headful-stealth'

/** Chromium applies only the last `--disable-features`: a further one has to repeat these. */
export const disabledFeatures = [
  'AvoidUnnecessaryBeforeUnloadCheckSync',
  'DestroyProfileOnBrowserClose',
  'HttpsUpgrades',
  'HttpsFirstBalancedModeAutoEnable',
  'MediaRouter',
  'PaintHolding',
  'ThirdPartyStoragePartitioning',
  'AvoidCorsURLLoaderRestartOnRedirect',
  'OptimizationHints',
  'NetworkTimeServiceQuerying',
  'PreconnectToSearch',
  'Translate',
]

const always = [
  '--remote-debugging-pipe',
  '--no-startup-window',
  '--no-first-run',
  '--no-default-browser-check',
  '--disable-field-trial-config',
  '--disable-background-networking',
  '--disable-background-timer-throttling',
  '--disable-backgrounding-occluded-windows',
  '--disable-renderer-backgrounding',
  '--disable-back-forward-cache',
  '--disable-breakpad',
  '--disable-component-extensions-with-background-pages',
  '--disable-component-update',
  '--disable-default-apps',
  '--disable-dev-shm-usage',
  '--disable-extensions',
  `--disable-features=${disabledFeatures.join(',')}`,
  '--allow-pre-commit-input',
  '--disable-hang-monitor',
  '--disable-ipc-flooding-protection',
  '--disable-popup-blocking',
  '--disable-prompt-on-repost',
  '--disable-quic',
  '--disable-search-engine-choice-screen',
  '--disable-sync',
  '--disable-infobars',
  '--enable-unsafe-swiftshader',
  '--force-color-profile=srgb',
  '--metrics-recording-only',
  '--no-service-autorun',
  '--password-store=basic',
  '--use-mock-keychain',
  '--unsafely-disable-devtools-self-xss-warnings',
]

const windowless = [
  '--hide-scrollbars',
  '--mute-audio',
  '--blink-settings=primaryHoverType=2,availableHoverTypes=2,primaryPointerType=4,availablePointerTypes=4,middleClickPasteAllowed=false',
]

export interface FlagFacts {
  readonly kind: BrowserKind
  /** Whether the executable is the headless shell, which has only one headless mode. */
  readonly shell: boolean
  readonly profileDir: string
  /** Whether the process runs as root, which cannot set up Chromium's sandbox. */
  readonly root: boolean
  /** Whether pages may offer tools (WebMCP). */
  readonly webmcp?: boolean
}

export function chromiumFlags({ kind, shell, profileDir, root, webmcp = false }: FlagFacts): string[] {
  return [
    ...always,
    `--enable-features=CDPScreenshotNewSurface${webmcp ? ',WebMCP' : ''}`,
    ...(hasWindows(kind) ? [] : [shell ? '--headless' : '--headless=new', ...windowless]),
    ...(hidesAutomation(kind) ? ['--disable-blink-features=AutomationControlled'] : []),
    ...(root ? ['--no-sandbox'] : []),
    `--user-data-dir=${profileDir}`,
  ]
}
