/** The identity of a reader: cookies, headers and properties of the browser, used by fetches and by rendered pages. */
import { credentialIn } from '../../../core/identity.ts'
import { type Place, placeOf, withBases } from '../../../core/shapes/regions.ts'
import type { IdentityInput } from '../../../core/shapes/read/identity.ts'
import type { StorageState } from '../../../core/stores.ts'
import type { RequestIdentity } from '../../egress/egress.ts'
import type { ResponseHeaders } from '../../egress/response-headers.ts'
import { CookieJar } from './cookie-jar.ts'
import { readCookies } from './cookie-text.ts'
import type { SafeSigner } from './safe-signer.ts'
import type { ReadProxies } from './read-proxies.ts'
import { isSubdomain } from './set-cookie.ts'

/** A phone, as Playwright describes it. */
export interface Device {
  readonly userAgent: string
  readonly viewport: { readonly width: number; readonly height: number }
  readonly deviceScaleFactor: number
}

export interface IdentityFacts {
  readonly input: IdentityInput
  /** URL whose host the headers are for. */
  readonly start: URL
  /** State of the profile. */
  readonly state?: StorageState
  readonly device?: Device
  readonly signer?: SafeSigner
  readonly proxies?: ReadProxies
  /** Whether the cookies are those of a session. */
  readonly isOfSession?: boolean
}

export class ReadIdentity implements RequestIdentity {
  readonly #facts: IdentityFacts
  readonly #headers: Readonly<Record<string, string>>
  readonly #jar: CookieJar
  readonly #place: Place
  readonly #views = new Map<string, ReadIdentity>()

  /** @throws BaxError `invalid_request` for cookies that cannot be read */
  constructor(facts: IdentityFacts, jar?: CookieJar) {
    const { input, start, state } = facts
    const { cookie, 'user-agent': _, ...headers } = lowerCase(input.headers)
    this.#facts = facts
    this.#place = placeOf(input.location ?? {})
    this.#headers = headers
    this.#jar = jar ?? new CookieJar(state?.cookies)
    const given = [
      ...(input.cookies === undefined ? [] : readCookies(input.cookies, start)),
      ...(cookie === undefined ? [] : readCookies(`Cookie: ${cookie}`, start)),
    ]
    this.#jar.add(given)
  }

  get jar(): CookieJar {
    return this.#jar
  }

  /** Proxies that pages are read through; missing for the connection of the engine. */
  get proxies(): ReadProxies | undefined {
    return this.#facts.proxies
  }

  /** Local storage by origin. */
  get origins(): StorageState['origins'] {
    return this.#facts.state?.origins ?? []
  }

  get userAgent(): string | undefined {
    const { input, device } = this.#facts
    return lowerCase(input.headers)['user-agent'] ?? input.user_agent ?? device?.userAgent
  }

  /** Languages that pages are requested in, the first one preferred. */
  get languages(): readonly string[] {
    const { locale } = this.#facts.input
    return locale === undefined ? this.#place.languages : withBases([locale])
  }

  /** Value of the header `Accept-Language`, as Chromium writes it. */
  get acceptLanguage(): string | undefined {
    if (this.languages.length === 0) return undefined
    return this.languages.map((tag, at) => (at === 0 ? tag : `${tag};q=${Math.max(10 - at, 1) / 10}`)).join(',')
  }

  get browser(): Pick<IdentityInput, 'locale' | 'timezone' | 'geolocation'> & { readonly device?: Device } {
    const { input, device } = this.#facts
    const { geolocation } = input
    const { languages, timezone } = this.#place
    const place = { locale: input.locale ?? languages[0], timezone: input.timezone ?? timezone }
    return { ...place, geolocation, ...(device && { device }) }
  }

  /** Whether a site may recognize the caller. */
  get hasCredentials(): boolean {
    return this.#facts.isOfSession === true || credentialIn(this.#facts.input) !== undefined
  }

  get skipsTlsVerification(): boolean {
    return this.#facts.input.skip_tls_verification
  }

  get hasHeaders(): boolean {
    return this.#facts.signer !== undefined || Object.keys(this.#headers).length > 0
  }

  /** Returns the headers for a URL, with names in lower case: none of the caller for another site, and the signature. */
  headersFor(href: string): Readonly<Record<string, string>> {
    const { start, signer } = this.#facts
    const url = new URL(href)
    const own = isWithin(start, url) ? this.#headers : {}
    return { ...own, ...signer?.headersFor(start, url) }
  }

  cookiesFor(href: string): string {
    // Node sends each character as a byte; browsers send UTF-8.
    return Buffer.from(this.#jar.headerFor(href), 'utf8').toString('latin1')
  }

  received(href: string, headers: ResponseHeaders): void {
    this.#jar.receive(href, headers)
  }

  /** Returns the same identity for a URL of a list: its headers, and its cookies without a domain, are for that host. */
  at(href: string): ReadIdentity {
    const start = new URL(href)
    if (start.origin === this.#facts.start.origin) return this
    let view = this.#views.get(start.origin)
    if (!view) this.#views.set(start.origin, (view = new ReadIdentity({ ...this.#facts, start }, this.#jar)))
    return view
  }
}

const lowerCase = (headers: IdentityInput['headers'] = {}): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))

/** Whether headers for a URL may be sent to another one: the same host or a subdomain, never in the clear after TLS. */
function isWithin(start: URL, { hostname, port, protocol }: URL): boolean {
  if (hostname !== start.hostname && !isSubdomain(hostname, start.hostname)) return false
  if (start.protocol === 'https:' && protocol !== 'https:') return false
  // Another port is another service, except when a site moves to TLS.
  return port === start.port
}
