/** Converts Playwright's errors to errors of the engine. */
import { setTimeout as after } from 'node:timers/promises'
import { browserErrorOf } from '../../../core/errors/browser-errors.ts'
import { asBaxError, BaxError, type ErrorCode } from '../../../core/errors/errors.ts'
import { withSessionTlsHint } from '../../../core/errors/certificates.ts'
import { isSystemError, systemReason } from '../../../core/errors/system-errors.ts'
import { unresolvedHost } from '../../../core/errors/unresolved-host.ts'
import { parseUrl } from '../../../core/net/parse-url.ts'
import { proxyErrorIn } from '../../egress/failures.ts'
import type { BatchTarget } from '../ports/batch-target.ts'
import { withReason } from './net-reason.ts'

/** Time in which the end of a session or a crash is reported, after calls that fail because of it. */
const endMs = 200

const lossCodes: ReadonlySet<ErrorCode> = new Set<ErrorCode>(['target_closed', 'page_crashed', 'worker_lost'])

/** Returns whether an error is one of the browser, which the loss of the page or the browser may have caused. */
const isBrowserError = (thrown: unknown): boolean =>
  thrown instanceof BaxError
    ? thrown.code === 'worker_lost'
    : thrown instanceof Error && browserErrorOf(thrown.message) !== undefined

/** Rethrows an error of work on a session; an error of the browser as what caused it. */
export async function rethrow(thrown: unknown, target: BatchTarget): Promise<never> {
  throw isBrowserError(thrown) ? await failureOf(thrown, 'the request', target) : thrown
}

/** Returns the error of a failed command; the end of its session or a crash of its page takes precedence. */
export async function failureOf(thrown: unknown, command: string, target: BatchTarget): Promise<BaxError> {
  const converted = thrown instanceof BaxError ? thrown : toBaxError(withReason(thrown, target.activePage), command)
  // The certificates of a browser that belongs to its user are the user's decision.
  const error = target.recordable ? withSessionTlsHint(converted) : converted
  const end = await endOf(target, isBrowserError(thrown) || lossCodes.has(error.code))
  if (end) return end
  // When the page crashed meanwhile, the crash is the cause of any other error.
  const crash = target.crashed ? await crashOf(target, command) : undefined
  if (crash) return crash
  if (error.code === 'timeout' && !target.responsive) {
    return new BaxError('timeout', `${command} timed out: the browser does not answer`, {
      cause: error,
      hint: 'retry later, or create a new session: an unresponsive browser is killed',
      details: { browser: 'unresponsive' },
    })
  }
  return (error.code === 'timeout' && target.dialogs.errorFor(command)) || error
}

/** Returns the error that reports the end of the session; waits for it if an error may be an effect of it. */
async function endOf({ ended }: BatchTarget, isLikely: boolean): Promise<BaxError | undefined> {
  // Aborted when the session ends.
  if (isLikely) await after(endMs, undefined, { signal: ended }).catch(() => {})
  return ended.aborted && ended.reason instanceof BaxError ? ended.reason : undefined
}

/** Reloads the crashed page, and returns the error that reports the crash. */
async function crashOf(target: BatchTarget, command: string): Promise<BaxError | undefined> {
  try {
    return await target.recover()
  } catch (error) {
    return (await endOf(target, true)) ?? toBaxError(error, command)
  }
}

const navigationErrors: readonly [RegExp, ErrorCode, string][] = [
  [/ERR_CERT_|ERR_SSL_|ERR_BAD_SSL/, 'tls_error', 'no secure connection could be made'],
  [/ERR_TOO_MANY_REDIRECTS/, 'too_many_redirects', 'the URL redirects too often'],
  [/ERR_UNSAFE_PORT/, 'url_blocked', 'browsers block this port'],
  [/ERR_BLOCKED_BY_|URL blocked|ERR_DISALLOWED_URL_SCHEME/, 'url_blocked', 'URL blocked'],
  [
    /ERR_CONNECTION_|ERR_ADDRESS_|ERR_INTERNET_DISCONNECTED|ERR_EMPTY_RESPONSE|ERR_SOCKET|ERR_PROXY_|ERR_TUNNEL_|ERR_NETWORK_|ERR_TIMED_OUT/,
    'connection_failed',
    'the server could not be reached',
  ],
  [/download is starting/i, 'navigation_aborted', 'the URL started a download instead of a page'],
  [/ERR_ABORTED/, 'navigation_aborted', 'the navigation was aborted'],
  [/net::ERR_|Cannot navigate|page\.(?:goto|reload):/, 'navigation_failed', 'the page could not be opened'],
]

/** Converts an error of Playwright; unknown ones become `action_failed` with their cause. */
export function toBaxError(thrown: unknown, command: string): BaxError {
  if (thrown instanceof BaxError) return thrown
  const message = thrown instanceof Error ? thrown.message : String(thrown)
  // The call log of a timeout may quote anything, so check the name first.
  if (thrown instanceof Error && thrown.name === 'TimeoutError') {
    const ms = /Timeout (\d+)ms exceeded/.exec(message)?.[1]
    return new BaxError('timeout', `${command} timed out${ms ? ` after ${ms} ms` : ''}`, { cause: thrown })
  }
  const ofBrowser = browserErrorOf(message)
  if (ofBrowser) {
    const isOwn = ofBrowser.code === 'action_failed' || ofBrowser.code === 'cdp_error'
    const sentence = isOwn ? `${command} failed: ${ofBrowser.message}` : ofBrowser.message
    return new BaxError(isOwn ? 'action_failed' : ofBrowser.code, sentence, { cause: thrown })
  }
  const [, name, url] = /net::(ERR_NAME_(?:NOT_RESOLVED|RESOLUTION\w*))(?: at (\S+))?/.exec(message) ?? []
  if (name !== undefined) return unresolvedHost(url === undefined ? undefined : parseUrl(url)?.hostname, name, thrown)
  const ofProxy = proxyErrorIn(message, thrown)
  if (ofProxy) return ofProxy
  const found = navigationErrors.find(([pattern]) => pattern.test(message))
  if (found) {
    const [, code, sentence] = found
    const net = /net::(ERR_\w+)/.exec(message)?.[1]
    const shown = net && code !== 'url_blocked' ? `${sentence} (${net})` : sentence
    // The URL that was opened is not the one that failed, which a caller may not learn.
    const hint = message.startsWith('page.led: ')
      ? 'the page leads to another URL, which could not be opened'
      : undefined
    return new BaxError(code, shown, { cause: thrown, ...(hint && { hint }) })
  }
  const system = asBaxError(thrown)
  if (system.code !== 'internal_error') return system
  const reason = isSystemError(thrown) ? systemReason(thrown) : firstLine(message)
  return new BaxError('action_failed', `${command} failed: ${reason}`, { cause: thrown })
}

const firstLine = (message: string): string => message.split('\n', 1)[0]!.replace(/^(?:\w+\.\w+: )?(?:Error: )?/, '')

const goneCodes: ReadonlySet<string | undefined> = new Set<ErrorCode>([...lossCodes, 'navigation_aborted'])

/** Returns whether a call failed because its frame or page navigated or closed meanwhile. */
export const isGone = (error: unknown): boolean => goneCodes.has(browserErrorOf(String(error))?.code)

/** Returns whether a navigation has interrupted work. */
export const isInterrupted = (error: unknown): boolean =>
  (error instanceof BaxError ? error.code : browserErrorOf(String(error))?.code) === 'navigation_aborted'

/** Returns undefined for work that fails since its frame or page navigated or closed meanwhile. */
export const unlessGone = <T>(work: Promise<T>): Promise<T | undefined> =>
  work.catch((error: unknown) => {
    if (isGone(error)) return undefined
    throw error
  })
