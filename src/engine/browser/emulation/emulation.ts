/** Emulation of a session: devices, media, place and network conditions, in all its present and future tabs. */
import type { BrowserContext } from 'playwright'
import { redactHeaders } from '../../../core/access/redact.ts'
import { BaxError } from '../../../core/errors/errors.ts'
import { didYouMean } from '../../../core/errors/suggest.ts'
import { limits } from '../../../core/limits/limits.ts'
import type { EmulationControl, EmulationRequest } from '../../../core/operation/page-control.ts'
import { withDeadline } from '../../../core/process/deadline.ts'
import { oncePer } from '../../../core/once-per.ts'
import type { BatchTarget } from '../ports/batch-target.ts'
import { unlessGone } from '../page/playwright-errors.ts'
import { playwright } from '../cdp/playwright.ts'
import { type Overrides, overridesOf } from '../cdp/override-transport.ts'
import {
  localeOverride,
  mediaOverride,
  methods,
  screenOverride,
  timezoneOverride,
  touchOverride,
  userAgentOverride,
} from './page-settings.ts'

export const emulationOf = (target: BatchTarget): EmulationControl => controlOf(target)

/** Returns the user agent that a context emulates. */
export const emulatedUserAgent = (context: BrowserContext): string | undefined => agents.get(context)

const agents = new WeakMap<BrowserContext, string>()

const controlOf = oncePer((target: BatchTarget) => new Emulation(target))

/** Settings in force; devices and requests are resolved. */
type State = Omit<EmulationRequest, 'reset'> & { readonly mobile?: boolean; readonly touch?: boolean }

class Emulation implements EmulationControl {
  readonly #target: BatchTarget
  readonly #context: BrowserContext
  /** Size of new tabs before any emulation; null where Playwright sets none. */
  readonly #original: BatchTarget['viewport']
  #state: State = {}

  constructor(target: BatchTarget) {
    this.#target = target
    this.#context = target.browserContext
    this.#original = target.viewport && { ...target.viewport }
  }

  /** @throws BaxError `invalid_data` for an unknown device, `action_failed` when the browser refuses a setting. */
  async apply({ reset, device: name, ...request }: EmulationRequest): Promise<Record<string, unknown>> {
    const device = name === undefined ? {} : deviceNamed(name)
    const given = Object.fromEntries(Object.entries(request).filter(([, value]) => value !== undefined)) as State
    const before = this.#state
    const after: State = { ...(reset ? {} : before), ...device, ...given }
    const { applyMs: ms } = limits.emulation
    const deadline = { ms, error: `a tab did not answer within ${ms} ms` }
    try {
      await withDeadline(this.#change(before, after), deadline)
    } catch (error) {
      // Undo the part that succeeded. What the browser has refused cannot be undone either.
      await withDeadline(this.#change(after, before), deadline).catch(() => {})
      throw error
    }
    this.#state = after
    return shown(after)
  }

  async #change(before: State, after: State): Promise<void> {
    const changed = (...names: (keyof State)[]) =>
      names.some((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]))
    if (changed('viewport', 'scale', 'mobile', 'touch')) await this.#setScreen(after)
    if (changed('media', 'color_scheme', 'reduced_motion', 'contrast', 'forced_colors')) await this.#setMedia(after)
    if (changed('locale')) await this.#set(methods.locale, after.locale && localeOverride(after.locale))
    if (changed('user_agent', 'locale')) await this.#setUserAgent(after)
    if (changed('timezone')) await this.#set(methods.timezone, after.timezone && timezoneOverride(after.timezone))
    if (changed('geolocation')) await this.#setGeolocation(after)
    if (changed('offline')) await this.#context.setOffline(after.offline ?? false)
    if (changed('headers')) await this.#context.setExtraHTTPHeaders({ ...after.headers })
    // Playwright has no other method for contexts that exist already.
    if (changed('credentials')) await this.#context.setHTTPCredentials(after.credentials ?? null)
  }

  async #set(method: string, override: Parameters<Overrides['set']>[1] | ''): Promise<void> {
    const overrides = overridesOf(this.#context)
    if (!overrides) throw new BaxError('unsupported', 'this browser does not support emulation')
    await overrides.set(method, override || undefined)
  }

  async #setScreen({ viewport, scale, mobile, touch }: State): Promise<void> {
    const original = this.#original
    const size = viewport ?? original
    if (original && size) {
      Object.assign(this.#target.viewport!, size)
      await Promise.all(this.#target.pages.map((page) => unlessGone(page.setViewportSize({ ...size }))))
    }
    // New tabs have this size from the start, and Playwright adopts it when the session adds them.
    const isSet = scale !== undefined || mobile || viewport !== undefined
    await this.#set(methods.screen, isSet ? screenOverride({ size: viewport, scale, mobile }) : undefined)
    await this.#set(methods.touch, touch ? touchOverride() : undefined)
  }

  async #setMedia({ media, color_scheme, reduced_motion, contrast, forced_colors }: State): Promise<void> {
    const wanted = { media, color_scheme, reduced_motion, contrast, forced_colors }
    const isSet = Object.values(wanted).some((value) => value !== undefined)
    await this.#set(methods.media, isSet ? mediaOverride(wanted) : undefined)
  }

  async #setUserAgent({ user_agent, locale }: State): Promise<void> {
    const version = this.#context.browser()?.version() ?? ''
    const isSet = user_agent !== undefined || locale !== undefined
    await this.#set(methods.userAgent, isSet ? userAgentOverride(user_agent, locale, version) : undefined)
    if (user_agent === undefined) agents.delete(this.#context)
    else agents.set(this.#context, user_agent)
  }

  async #setGeolocation({ geolocation }: State): Promise<void> {
    await this.#context.setGeolocation(geolocation ?? null)
    // A user's browser asks its user: the permission would also hold for tabs that do not emulate a place.
    if (!this.#original) return
    if (geolocation) await this.#context.grantPermissions(['geolocation'])
    else await this.#context.clearPermissions()
  }
}

/** Returns the settings of one of Playwright's devices. @throws BaxError `invalid_data` for an unknown one. */
function deviceNamed(name: string): State {
  const { devices } = playwright()
  const found = Object.keys(devices).find((known) => known.toLowerCase() === name.toLowerCase())
  const device = found === undefined ? undefined : devices[found]
  if (!device) {
    throw new BaxError(
      'invalid_data',
      `unknown device ${JSON.stringify(name)}${didYouMean(name, Object.keys(devices))}`,
      {
        hint: 'use the name of a Playwright device, such as "iPhone 15" or "Pixel 7"',
      },
    )
  }
  const { viewport, deviceScaleFactor, isMobile, hasTouch, userAgent } = device
  return {
    device: found!,
    viewport,
    scale: deviceScaleFactor,
    mobile: isMobile,
    touch: hasTouch,
    user_agent: userAgent,
  }
}

/** Returns the settings in force without secrets. */
function shown({ headers, credentials, ...state }: State): Record<string, unknown> {
  return {
    ...state,
    ...(headers && { headers: redactHeaders(headers) }),
    ...(credentials && { credentials: { ...credentials, password: '[redacted]' } }),
  }
}
