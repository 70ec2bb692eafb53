/** Routes of a session: rules that abort, fulfil or modify its requests. */
import type { BrowserContext, Request, Route } from 'playwright'
import type { EventLog } from '../../../core/events/events.ts'
import { BaxError } from '../../../core/errors/errors.ts'
import { limits } from '../../../core/limits/limits.ts'
import type { ListedRoute, RouteAction, RouteRule } from '../../../core/operation/page-control.ts'
import { oncePer } from '../../../core/once-per.ts'
import { isGone, toBaxError } from '../page/playwright-errors.ts'
import { urlGlob } from './url-glob.ts'

/** Returns the routes of a context; those of a user's browser last until the engine disconnects from it. */
export const routesOf = oncePer((context: BrowserContext) => new Routes(context))

interface Installed {
  readonly id: string
  readonly rule: RouteRule
  readonly matchesUrl: (url: string) => boolean
  hits: number
}

/** Decides about a request before any route does; returns whether it may continue. */
type RequestGuard = (route: Route, request: Request, action: RouteAction | undefined) => Promise<boolean>

/**
 * One handler per context serves all routes. It is installed only while there are routes or a guard, since the browser then asks
 * the engine about every request, and does not use its cache. Requests continue with `fallback`, never with a fetch of
 * the engine's own, so that other handlers and the browser's proxy still apply to them.
 */
class Routes {
  readonly #context: BrowserContext
  readonly #routes: Installed[] = []
  #added = 0
  #isInstalled = false
  #events: EventLog | undefined
  #guard: RequestGuard | undefined

  constructor(context: BrowserContext) {
    this.#context = context
  }

  /** @throws BaxError `invalid_data` beyond a limit, `invalid_request` for an invalid glob. */
  async add(rule: RouteRule, events: EventLog): Promise<string> {
    const { routes: most, routeBytes } = limits.network
    if (this.#routes.length >= most) {
      throw new BaxError('invalid_data', `a session can have at most ${most} routes`, {
        hint: 'remove routes that are no longer needed with remove_route',
      })
    }
    const bytes = [rule, ...this.#routes.map((route) => route.rule)].reduce((sum, one) => sum + sizeOf(one.action), 0)
    if (bytes > routeBytes) {
      throw new BaxError('invalid_data', `the bodies of all routes may have at most ${routeBytes} bytes, not ${bytes}`)
    }
    const matchesUrl = urlGlob(rule.url, 'url')
    this.#events = events
    await this.#install()
    const id = `route_${++this.#added}`
    this.#routes.push({ id, rule, matchesUrl, hits: 0 })
    return id
  }

  /** Lets a guard decide about all requests of the context from now on. */
  async guard(guard: RequestGuard): Promise<void> {
    this.#guard = guard
    await this.#install()
  }

  /** @throws BaxError `invalid_data` when no route has the given ID or glob. */
  async remove(which: string | undefined): Promise<string[]> {
    const removed = this.#routes.filter(({ id, rule }) => which === undefined || id === which || rule.url === which)
    if (which !== undefined && removed.length === 0) {
      throw new BaxError('invalid_data', `no route has the ID or URL ${JSON.stringify(which)}`, {
        hint: 'list the routes with list_routes',
      })
    }
    for (const route of removed) this.#routes.splice(this.#routes.indexOf(route), 1)
    if (this.#routes.length === 0 && !this.#guard) await this.#uninstall()
    return removed.map(({ id }) => id)
  }

  list(): ListedRoute[] {
    return this.#routes.map(({ id, rule, hits }) => ({ id, ...rule, hits }))
  }

  async #install(): Promise<void> {
    if (this.#isInstalled) return
    this.#isInstalled = true
    try {
      await this.#context.route(anyUrl, this.#handle)
    } catch (error) {
      // Playwright would intercept the requests of further pages although the browser has refused it.
      await this.#uninstall().catch(() => {})
      throw error
    }
  }

  async #uninstall(): Promise<void> {
    if (!this.#isInstalled) return
    this.#isInstalled = false
    await this.#context.unroute(anyUrl, this.#handle)
  }

  readonly #handle = async (route: Route, request: Request): Promise<void> => {
    const found = this.#routes.findLast((installed) => isMatch(installed, request))
    if (this.#guard && !(await this.#guard(route, request, found?.rule.action))) return
    if (!found) return route.fallback()
    found.hits += 1
    try {
      await act(found.rule.action, route, request)
    } catch (error) {
      // The page may have closed meanwhile. Any other failure must not leave the request unanswered.
      if (isGone(error)) return
      const { code, message } = toBaxError(error, found.id)
      this.#events?.emit('error', { code, message })
      await route.abort('failed').catch(() => {})
    }
  }
}

const anyUrl = () => true

const sizeOf = (action: RouteAction): number => (action.kind === 'fulfil' ? action.body.length : 0)

const isMatch = ({ rule, matchesUrl }: Installed, request: Request): boolean =>
  (rule.types.length === 0 || rule.types.includes(request.resourceType())) &&
  (rule.method === undefined || rule.method === request.method().toUpperCase()) &&
  matchesUrl(request.url())

function act(action: RouteAction, route: Route, request: Request): Promise<void> {
  if (action.kind === 'abort') return route.abort(action.reason)
  if (action.kind === 'fulfil') {
    const { status, headers, body } = action
    return route.fulfill({ status, headers: { ...headers }, body: Buffer.from(body) })
  }
  const removed = new Set(action.remove.map((name) => name.toLowerCase()))
  const kept = Object.entries({ ...request.headers(), ...lowerCased(action.set) })
  return route.fallback({ headers: Object.fromEntries(kept.filter(([name]) => !removed.has(name))) })
}

const lowerCased = (headers: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
