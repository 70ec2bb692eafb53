/** Plausible user agents for the version of the running browser, with matching client hints. */

/** Operating systems; `navigator` is `navigator.platform`. */
const platforms = [
  { pattern: /Android/, name: 'Android', version: '15.0.0', architecture: '', navigator: 'Linux armv81' },
  { pattern: /Windows/, name: 'Windows', version: '15.0.0', architecture: 'x86', navigator: 'Win32' },
  { pattern: /Macintosh/, name: 'macOS', version: '15.5.0', architecture: 'arm', navigator: 'MacIntel' },
  { pattern: /CrOS/, name: 'Chrome OS', version: '16093.0.0', architecture: 'x86', navigator: 'Linux x86_64' },
  { pattern: /Linux/, name: 'Linux', version: '', architecture: 'x86', navigator: 'Linux x86_64' },
]

const systems = [
  'Windows NT 10.0; Win64; x64',
  'Macintosh; Intel Mac OS X 10_15_7',
  'X11; Linux x86_64',
  'X11; CrOS x86_64 14541.0.0',
]

const chrome = (system: string, major: string): string =>
  `Mozilla/5.0 (${system}) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/${major}.0.0.0 Safari/537.36`

/** Returns a user agent of the given browser version (`156.0.8078.79`) on a random operating system. */
export function randomUserAgent(version: string, random: () => number = Math.random): string {
  const major = version.split('.')[0]!
  const choices = [
    ...systems.map((system) => chrome(system, major)),
    `${chrome(systems[0]!, major)} Edg/${major}.0.0.0`,
    `${chrome(systems[1]!, major)} Edg/${major}.0.0.0`,
  ]
  return choices[Math.floor(random() * choices.length)]!
}

/** Returns the browser's user agent without the mark of headless mode. */
export const plainUserAgent = (userAgent: string): string =>
  userAgent.replace('HeadlessChrome', 'Chrome').replace(/Chrome\/(\d+)[\d.]*/, 'Chrome/$1.0.0.0')

/** Returns the client hints of a user agent, none for browsers that send none, and its `navigator.platform`. */
export function clientHintsFor(userAgent: string, version: string) {
  const platform = platforms.find(({ pattern }) => pattern.test(userAgent))
  const major = /\bChrome\/(\d+)/.exec(userAgent)?.[1]
  if (!platform || !major) return { platform: platform?.navigator, hints: undefined }
  const full = version.startsWith(`${major}.`) ? version : `${major}.0.0.0`
  const product = /\bEdg\//.test(userAgent) ? 'Microsoft Edge' : 'Google Chrome'
  const hints = {
    brands: brandList(Number(major), product, major),
    fullVersionList: brandList(Number(major), product, full),
    fullVersion: full,
    platform: platform.name,
    platformVersion: platform.version,
    architecture: platform.architecture,
    bitness: platform.architecture === '' ? '' : '64',
    model: '',
    mobile: /\bMobile\b/.test(userAgent),
    wow64: false,
  }
  return { platform: platform.navigator, hints }
}

const greaseMarks = [' ', '(', ':', '-', '.', '/', ')', ';', '=', '?', '_']
const greaseVersions = ['8', '99', '24']
const orders = [
  [0, 1, 2],
  [0, 2, 1],
  [1, 0, 2],
  [1, 2, 0],
  [2, 0, 1],
  [2, 1, 0],
]

/** Lists brands like Chromium, with the GREASE brand and in order (components/embedder_support/user_agent_utils.cc). */
function brandList(major: number, product: string, version: string) {
  const mark = (offset: number) => greaseMarks[(major + offset) % greaseMarks.length]!
  const greaseVersion = greaseVersions[major % greaseVersions.length]!
  const grease = `Not${mark(0)}A${mark(1)}Brand`
  const members = [
    { brand: grease, version: version.includes('.') ? `${greaseVersion}.0.0.0` : greaseVersion },
    { brand: 'Chromium', version },
    { brand: product, version },
  ]
  const list: typeof members = []
  for (const [at, place] of orders[major % orders.length]!.entries()) list[place] = members[at]!
  return list
}
