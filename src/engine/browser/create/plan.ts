/** Turns the options of a new session into a plan, validated before any browser is used. */
import type { BrowserContextOptions } from 'playwright'
import { BaxError } from '../../../core/errors/errors.ts'
import { assertMaySkipTls, type TlsRule } from '../../../core/errors/certificates.ts'
import { limits } from '../../../core/limits/limits.ts'
import { isLanguageTag, isTimeZone } from '../../../core/shapes/regions.ts'
import type { Call } from '../../../core/operation/call.ts'
import type { SessionInput } from '../../../core/shapes/session.ts'
import type { StorageState } from '../../../core/stores.ts'
import { normaliseUrl, openableUrl } from '../../../core/net/urls.ts'
import { AllowedHosts } from '../../egress/allowed-hosts.ts'
import type { Egress } from '../../egress/egress.ts'
import { proxyAddress } from '../../egress/proxy-settings.ts'
import type { BrowserKind } from '../pool/flags.ts'
import { plainUserAgent, randomUserAgent } from '../cdp/user-agents.ts'

/** Facts of a browser that the options of a context depend on. */
interface BrowserFacts {
  readonly version: string
  readonly userAgent: string
}

export interface SessionPlan {
  /** ID of the key that will own the session; null when the engine uses no keys. */
  readonly owner: string | null
  readonly input: SessionInput
  readonly kind: BrowserKind
  readonly viewport: { readonly width: number; readonly height: number }
  readonly startUrl: string | undefined
  /** CDP endpoint of a remote browser. */
  readonly cdpUrl: string | undefined
  /** Hosts that the session may connect to; all when undefined. */
  readonly allowed: AllowedHosts | undefined
  /** Credentials whose passkeys the session uses, from its profile. */
  readonly passkeys: readonly string[]
  readonly warnings: readonly string[]
  /** Options of the session's own context, with `proxy` if given; undefined when a ready context fits. */
  contextOptions(browser: BrowserFacts, proxy?: BrowserContextOptions['proxy']): BrowserContextOptions | undefined
  userAgent(browser: BrowserFacts): string
}

export interface PlanEnvironment extends TlsRule {
  readonly egress: Egress
  /** Its signal cancels look-ups of names. */
  readonly call: Pick<Call, 'caller' | 'signal'>
  readonly display: boolean
  /** Loads a saved profile by its ID or name. @throws BaxError `profile_not_found`. */
  readonly profile: (idOrName: string) => Promise<{ readonly profile_id: string; readonly state: StorageState }>
  /** Returns whether a full Chromium is installed, which windows need. */
  readonly canShow: () => Promise<boolean>
}

/** @throws BaxError `invalid_request` naming the field, `url_blocked`, or `profile_not_found`; the reason of the signal. */
export async function planSession(input: SessionInput, environment: PlanEnvironment): Promise<SessionPlan> {
  checkFields(input)
  assertMaySkipTls(input, environment)
  const startUrl = input.start_url === undefined ? undefined : openableUrl(input.start_url, 'start_url')
  const cdpUrl = input.cdp_url === undefined ? undefined : endpoint(input.cdp_url)
  const { egress, call } = environment
  const owner = call.caller.keyId
  const work = { from: owner, signal: call.signal }
  const allowed = input.allowed_domains && new AllowedHosts(input.allowed_domains)
  if (allowed && cdpUrl !== undefined)
    throw invalid('allowed_domains', 'cannot be enforced in a browser reached by cdp_url')
  if (startUrl !== undefined) allowed?.checkUrl(new URL(startUrl))
  if (input.proxy) await egress.checkHost(proxyAddress(input.proxy.server), work)
  // A remote browser follows the rules of its own network.
  if (cdpUrl !== undefined) await egress.check(cdpUrl, work)
  else if (startUrl !== undefined && /^https?:/.test(startUrl)) await egress.check(startUrl, work)
  const profile = input.profile_id === undefined ? undefined : await environment.profile(input.profile_id)
  const { passkeys, ...storage } = profile?.state ?? { cookies: [], origins: [] }
  const viewport = input.viewport ?? limits.session.viewport
  const { kind, warning } = await kindOf(input, environment)
  const stealth = input.disable_automation_detection
  const remoteWarning = cdpUrl !== undefined && stealth ? remoteStealth : undefined
  let randomAgent: string | undefined
  const userAgentFor = (browser: BrowserFacts): string | undefined => {
    if (input.user_agent !== undefined) return input.user_agent
    if (input.use_random_user_agent) return (randomAgent ??= randomUserAgent(browser.version))
    return stealth ? plainUserAgent(browser.userAgent) : undefined
  }
  const options: BrowserContextOptions = {
    ...(input.locale !== undefined && { locale: input.locale }),
    ...(input.timezone !== undefined && { timezoneId: input.timezone }),
    ...(profile && { storageState: storage }),
    ...(input.skip_tls_verification && { ignoreHTTPSErrors: true }),
    // Service workers would send the requests of pages themselves, where they are not held.
    ...(input.confirm?.includes('submit') && { serviceWorkers: 'block' }),
  }
  const isDefault =
    Object.keys(options).length === 0 && !input.proxy && !allowed && !input.user_agent && !input.use_random_user_agent
  return {
    owner,
    input: profile ? { ...input, profile_id: profile.profile_id } : input,
    kind,
    viewport,
    startUrl,
    cdpUrl,
    allowed,
    passkeys: passkeys ?? [],
    warnings: [warning, remoteWarning].filter((text) => text !== undefined),
    contextOptions: (browser, proxy) => {
      if (isDefault && cdpUrl === undefined) return undefined
      const userAgent = userAgentFor(browser)
      return { ...options, viewport: { ...viewport }, ...(proxy && { proxy }), ...(userAgent && { userAgent }) }
    },
    userAgent: (browser) => userAgentFor(browser) ?? browser.userAgent,
  }
}

const remoteStealth = 'with cdp_url, disable_automation_detection changes only the user agent'

async function kindOf(
  input: SessionInput,
  { display, canShow }: PlanEnvironment,
): Promise<{ kind: BrowserKind; warning?: string }> {
  const windowless = input.disable_automation_detection ? 'stealth' : 'headless'
  if (input.headless === true || input.cdp_url !== undefined) return { kind: windowless }
  if (display) {
    // Unless a window was requested, fall back to headless where only the headless shell is installed.
    const windowed = input.disable_automation_detection ? 'headful-stealth' : 'headful'
    return { kind: input.headless === false || (await canShow()) ? windowed : windowless }
  }
  if (input.headless === undefined) return { kind: windowless }
  return { kind: windowless, warning: 'the browser runs headless: this machine has no display' }
}

function checkFields(input: SessionInput): void {
  const { locale, timezone } = input
  if (locale !== undefined && !isLanguageTag(locale)) throw invalid('locale', 'is not a BCP 47 language tag')
  if (timezone !== undefined && !isTimeZone(timezone)) throw invalid('timezone', 'is not an IANA time zone')
  // oxlint-disable-next-line no-control-regex -- a header value must not contain any
  if (input.user_agent !== undefined && /[\u0000-\u001f\u007f]/.test(input.user_agent)) {
    throw invalid('user_agent', 'contains control characters')
  }
  if (input.proxy) proxyAddress(input.proxy.server)
  if (input.save_profile && input.profile_id === undefined) {
    throw invalid('save_profile', 'needs profile_id, the profile to save to')
  }
}

/** Parses the URL of a CDP endpoint; a bare port is one of this machine. */
function endpoint(text: string): string {
  const port = /^:?(\d{1,5})$/.exec(text.trim())?.[1]
  const href = normaliseUrl(port ? `http://127.0.0.1:${port}` : text, 'cdp_url')
  const { protocol } = new URL(href)
  if (!['http:', 'https:', 'ws:', 'wss:'].includes(protocol))
    throw invalid('cdp_url', 'is not an http, https, ws or wss URL')
  return href
}

const invalid = (path: string, message: string): BaxError =>
  new BaxError('invalid_request', `${path} ${message}`, { details: [{ path, message }] })
