/** From the wishes of a creation to what it takes: checked before any browser is touched. */
import type { BrowserContextOptions } from 'playwright'
import { BaxError } from '../../../core/errors/errors.ts'
import { limits } from '../../../core/limits/limits.ts'
import type { SessionInput } from '../../../core/shapes/session.ts'
import { normaliseUrl, openableUrl } from '../../../core/net/urls.ts'
import type { Egress } from '../../egress/egress.ts'
import { proxyAddress } from '../../egress/proxy-address.ts'
import type { BrowserKind } from '../pool/flags.ts'
import { plainUserAgent, randomUserAgent } from '../pool/user-agents.ts'

export type StorageState = Exclude<BrowserContextOptions['storageState'], string | undefined>

/** A browser as far as a context's options depend on it. */
interface BrowserFacts {
  readonly version: string
  readonly userAgent: string
}

export interface SessionPlan {
  /** The key that the session will belong to; null where no keys are in use. */
  readonly owner: string | null
  readonly input: SessionInput
  readonly kind: BrowserKind
  readonly viewport: { readonly width: number; readonly height: number }
  readonly startUrl: string | undefined
  /** Endpoint of somebody else's browser. */
  readonly cdpUrl: string | undefined
  readonly warnings: readonly string[]
  /** Options of the session's own context, which goes through a proxy; undefined when a ready one will do. */
  contextOptions(browser: BrowserFacts, proxy?: BrowserContextOptions['proxy']): BrowserContextOptions | undefined
  userAgent(browser: BrowserFacts): string
}

export interface Surroundings {
  readonly egress: Egress
  readonly owner: string | null
  readonly display: boolean
  /** Loads a saved profile; throws `profile_not_found`. */
  readonly profile: (profileId: string) => Promise<StorageState>
  /** Whether a whole Chromium is there, which a window needs. */
  readonly canShow: () => Promise<boolean>
}

/** @throws BaxError `invalid_request` naming the field, `url_blocked`, or `profile_not_found`. */
export async function planSession(input: SessionInput, around: Surroundings): Promise<SessionPlan> {
  checkTexts(input)
  const startUrl = input.start_url === undefined ? undefined : openableUrl(input.start_url, 'start_url')
  const cdpUrl = input.cdp_url === undefined ? undefined : endpoint(input.cdp_url)
  await checkReach(input, { startUrl, cdpUrl }, around.egress)
  const storageState = input.profile_id === undefined ? undefined : await around.profile(input.profile_id)
  const viewport = input.viewport ?? limits.session.viewport
  const { kind, warning } = await kindOf(input, around)
  const stealth = input.disable_automation_detection
  let picked: string | undefined
  const chosen = (browser: BrowserFacts): string | undefined => {
    if (input.user_agent !== undefined) return input.user_agent
    if (input.use_random_user_agent) {
      picked ??= randomUserAgent(browser.version)
      return picked
    }
    return stealth ? plainUserAgent(browser.userAgent) : undefined
  }
  const wishes: BrowserContextOptions = {
    ...(input.locale !== undefined && { locale: input.locale }),
    ...(input.timezone !== undefined && { timezoneId: input.timezone }),
    ...(storageState && { storageState }),
  }
  const plain = Object.keys(wishes).length === 0 && !input.proxy && !input.user_agent && !input.use_random_user_agent
  return {
    owner: around.owner,
    input,
    kind,
    viewport,
    startUrl,
    cdpUrl,
    warnings: [warning, ...remoteWarnings(input)].filter((text) => text !== undefined),
    contextOptions: (browser, proxy) => {
      if (plain && cdpUrl === undefined) return undefined
      const userAgent = chosen(browser)
      return { ...wishes, viewport: { ...viewport }, ...(proxy && { proxy }), ...(userAgent && { userAgent }) }
    },
    userAgent: (browser) => chosen(browser) ?? browser.userAgent,
  }
}

async function kindOf(
  input: SessionInput,
  { display, canShow }: Surroundings,
): Promise<{ kind: BrowserKind; warning?: string }> {
  const windowless = input.disable_automation_detection ? 'stealth' : 'headless'
  if (input.headless === true || input.cdp_url !== undefined) return { kind: windowless }
  if (display) {
    // A window that nobody asked for by name is no reason to fail where only the headless shell is installed.
    const windowed = input.disable_automation_detection ? 'headful-stealth' : 'headful'
    return { kind: input.headless === false || (await canShow()) ? windowed : windowless }
  }
  if (input.headless === undefined) return { kind: windowless }
  return { kind: windowless, warning: 'this machine has no display: the browser runs headless' }
}

function remoteWarnings(input: SessionInput): string[] {
  if (input.cdp_url === undefined || !input.disable_automation_detection) return []
  return ['disable_automation_detection changes only the user agent of a browser that runs already (cdp_url)']
}

function checkTexts(input: SessionInput): void {
  if (input.locale !== undefined) {
    check('locale', 'is no BCP 47 language tag', () => Intl.getCanonicalLocales(input.locale))
  }
  if (input.timezone !== undefined) {
    check('timezone', 'is no IANA time zone', () => new Intl.DateTimeFormat('en', { timeZone: input.timezone }))
    // An offset such as +02:00 is a time zone to Node and none to Chromium.
    if (/^[+-]/.test(input.timezone)) throw fault('timezone', 'is no IANA time zone')
  }
  // oxlint-disable-next-line no-control-regex -- a header value must not hold any
  if (input.user_agent !== undefined && /[\u0000-\u001f\u007f]/.test(input.user_agent)) {
    throw fault('user_agent', 'holds control characters')
  }
  if (input.proxy) proxyAddress(input.proxy.server)
  if (input.save_profile && input.profile_id === undefined) {
    throw fault('save_profile', 'needs profile_id: the profile to save into')
  }
}

/**
 * What the session would connect to, held against the rule before anything is opened. Where somebody else's browser
 * goes is for its own network to say.
 */
async function checkReach(
  { proxy }: SessionInput,
  { startUrl, cdpUrl }: { readonly startUrl: string | undefined; readonly cdpUrl: string | undefined },
  egress: Egress,
): Promise<void> {
  if (proxy) await egress.checkHost(proxyAddress(proxy.server))
  if (cdpUrl !== undefined) return egress.check(cdpUrl)
  if (startUrl !== undefined && /^https?:/.test(startUrl)) await egress.check(startUrl)
}

/** The address of a CDP endpoint; a bare port is one of this machine. */
function endpoint(text: string): string {
  const port = /^:?(\d{1,5})$/.exec(text.trim())?.[1]
  const href = normaliseUrl(port ? `http://127.0.0.1:${port}` : text, 'cdp_url')
  const { protocol } = new URL(href)
  if (!['http:', 'https:', 'ws:', 'wss:'].includes(protocol)) throw fault('cdp_url', 'is no http, https, ws or wss URL')
  return href
}

function check(path: string, message: string, attempt: () => unknown): void {
  try {
    attempt()
  } catch {
    throw fault(path, message)
  }
}

const fault = (path: string, message: string): BaxError =>
  new BaxError('invalid_request', `${path} ${message}`, { details: [{ path, message }] })
