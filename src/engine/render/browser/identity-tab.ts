/** Gives a tab the identity of a read: cookies, local storage, headers, and the properties of the browser. */
import { clientHintsFor } from '../../browser/cdp/user-agents.ts'
import type { CdpMessage } from '../../browser/cdp/upstream.ts'
import type { JarCookie } from '../identity/set-cookie.ts'
import type { ReadIdentity } from '../identity/identity.ts'
import { BaxError } from '../../../core/errors/errors.ts'
import type { Tab } from './tab.ts'

interface PausedRequest {
  readonly requestId: string
  readonly request: { readonly url: string; readonly headers: Record<string, string> }
}

export class IdentityTab {
  readonly #tab: Tab
  readonly #contextId: string
  readonly #identity: ReadIdentity
  #before: readonly JarCookie[] = []

  private constructor(tab: Tab, contextId: string, identity: ReadIdentity) {
    this.#tab = tab
    this.#contextId = contextId
    this.#identity = identity
  }

  static async open(tab: Tab, contextId: string, identity: ReadIdentity): Promise<IdentityTab> {
    const own = new IdentityTab(tab, contextId, identity)
    await Promise.all([own.#setCookies(), own.#setStorage(), own.#emulate(), own.#setPlace(), own.#setTls()])
    if (identity.hasHeaders) await tab.send('Fetch.enable', { patterns: [{ urlPattern: '*' }] })
    return own
  }

  /** Takes over the cookies that the page has changed. */
  async learn(): Promise<void> {
    this.#identity.jar.merge(this.#before, await this.#cookies())
  }

  onMessage({ method, params }: CdpMessage): void {
    if (method !== 'Fetch.requestPaused') return
    const { requestId, request } = params as unknown as PausedRequest
    const own = this.#identity.headersFor(request.url)
    // Redirects are paused again, so that headers stay with their host.
    const others = Object.entries(request.headers).filter(([name]) => !Object.hasOwn(own, name.toLowerCase()))
    const headers = [...others, ...Object.entries(own)].map(([name, value]) => ({ name, value }))
    const changed = Object.keys(own).length > 0 && { headers }
    // The page may have left the request, or the tab may be closed.
    this.#tab.send('Fetch.continueRequest', { requestId, ...changed }).catch(() => {})
  }

  async #cookies(): Promise<JarCookie[]> {
    const { cookies } = await this.#tab.browser.send('Storage.getCookies', { browserContextId: this.#contextId })
    return (cookies as (JarCookie & { session?: boolean })[]).map(
      ({ name, value, domain, path, expires, httpOnly, secure, sameSite, session }) => ({
        name,
        value,
        domain,
        path,
        expires: session ? -1 : expires,
        httpOnly,
        secure,
        // Cookies without the attribute are treated as Lax.
        sameSite: sameSite ?? 'Lax',
      }),
    )
  }

  async #setCookies(): Promise<void> {
    const cookies = this.#identity.jar.all()
    if (cookies.length === 0) return
    const set = (some: readonly JarCookie[]) =>
      this.#tab.browser.send('Storage.setCookies', { cookies: some, browserContextId: this.#contextId })
    try {
      await set(cookies)
    } catch (error) {
      if (!(error instanceof BaxError) || error.code !== 'action_failed') throw error
      // One that the browser refuses, such as that of a public suffix, must not keep the others out.
      await Promise.all(cookies.map((cookie) => set([cookie]).catch(() => {})))
    }
    this.#before = await this.#cookies()
  }

  /** Restores local storage before scripts of the page run; what a page has set itself stays. */
  async #setStorage(): Promise<void> {
    const { origins } = this.#identity
    const stored = Object.fromEntries(origins.map(({ origin, localStorage }) => [origin, localStorage]))
    if (origins.length === 0) return
    const source = `(() => {
      for (const { name, value } of ${JSON.stringify(stored)}[location.origin] ?? [])
        if (localStorage.getItem(name) === null) localStorage.setItem(name, value)
    })()`
    await this.#tab.send('Page.addScriptToEvaluateOnNewDocument', { source })
  }

  async #emulate(): Promise<void> {
    const { userAgent, languages } = this.#identity
    const { locale, timezone, device } = this.#identity.browser
    const { hints, platform } = userAgent === undefined ? {} : clientHintsFor(userAgent, '')
    const agent = {
      userAgent: userAgent ?? this.#tab.browser.userAgent,
      // Chromium adds the preferences.
      acceptLanguage: languages.length > 0 ? languages.join(',') : 'en-US,en;q=0.9',
      ...(hints && { userAgentMetadata: hints }),
      ...(platform && { platform }),
    }
    await Promise.all([
      this.#tab.send('Emulation.setUserAgentOverride', agent),
      ...(locale === undefined ? [] : [this.#tab.send('Emulation.setLocaleOverride', { locale })]),
      ...(timezone === undefined ? [] : [this.#tab.send('Emulation.setTimezoneOverride', { timezoneId: timezone })]),
      ...(device ? this.#emulateDevice(device) : []),
    ])
  }

  #emulateDevice({ viewport, deviceScaleFactor }: NonNullable<ReadIdentity['browser']['device']>) {
    const screen = {
      ...viewport,
      deviceScaleFactor,
      mobile: true,
      screenOrientation: { angle: 0, type: 'portraitPrimary' },
    }
    return [
      this.#tab.send('Emulation.setDeviceMetricsOverride', screen),
      this.#tab.send('Emulation.setTouchEmulationEnabled', { enabled: true }),
    ]
  }

  /** Accepts any certificate in this tab, whose context ends with its page. */
  async #setTls(): Promise<void> {
    if (this.#identity.skipsTlsVerification)
      await this.#tab.send('Security.setIgnoreCertificateErrors', { ignore: true })
  }

  async #setPlace(): Promise<void> {
    const { geolocation } = this.#identity.browser
    if (!geolocation) return
    const { browserContextId, permissions } = { browserContextId: this.#contextId, permissions: ['geolocation'] }
    await this.#tab.browser.send('Browser.grantPermissions', { permissions, browserContextId })
    await this.#tab.send('Emulation.setGeolocationOverride', { accuracy: 0, ...geolocation })
  }
}
