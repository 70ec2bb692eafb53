/** Converts Playwright's errors to errors of the engine. */
import { setTimeout as after } from 'node:timers/promises'
import { BaxError, type ErrorCode } from '../../../core/errors/errors.ts'
import type { BatchTarget } from './batch-target.ts'
import { withReason } from '../tabs/net-reason.ts'

/** Time to wait for the end of the session before a closed page counts as closed by itself. */
const endMs = 200

/** Returns the error of a failed command; the end of its session or a crash of its page takes precedence. */
export async function failureOf(thrown: unknown, command: string, target: BatchTarget): Promise<BaxError> {
  const error = thrown instanceof BaxError ? thrown : toBaxError(withReason(thrown, target.activePage), command)
  const isClosed = error.code === 'target_closed' || error.code === 'page_crashed'
  // Aborted when the session ends.
  if (isClosed) await after(endMs, undefined, { signal: target.ended }).catch(() => {})
  if (target.ended.aborted && target.ended.reason instanceof BaxError) return target.ended.reason
  // When the page crashed meanwhile, the crash is the cause of any other error.
  const crash = target.crashed ? await target.recover() : undefined
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

const known: readonly [RegExp, ErrorCode, string][] = [
  [/page crashed|target crashed/i, 'page_crashed', 'the page crashed'],
  [/has been closed|target closed|browser closed|session closed/i, 'target_closed', 'the page was closed'],
  [/ERR_NAME_NOT_RESOLVED|ERR_NAME_RESOLUTION/, 'dns_failed', 'the host name could not be resolved'],
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
  const found = known.find(([pattern]) => pattern.test(message))
  if (found) {
    const [, code, sentence] = found
    const net = /net::(ERR_\w+)/.exec(message)?.[1]
    const shown = net && code !== 'url_blocked' ? `${sentence} (${net})` : sentence
    return new BaxError(code, shown, { cause: thrown })
  }
  return new BaxError('action_failed', `${command} failed: ${firstLine(message)}`, { cause: thrown })
}

const firstLine = (message: string): string =>
  message.split('\n', 1)[0]!.replace(/^(?:\w+\.\w+: )?(?:Error: )?/, '') // prettier-ignore

const gone =
  /context was destroyed|frame was detached|frame got detached|has been closed|target closed|crashed|Cannot find context/i

/** Returns whether a call failed because its frame or page navigated or closed meanwhile. */
export const isGone = (error: unknown): boolean => gone.test(String(error))

/** Returns undefined for work that fails since its frame or page navigated or closed meanwhile. */
export const unlessGone = <T>(work: Promise<T>): Promise<T | undefined> =>
  work.catch((error: unknown) => {
    if (isGone(error)) return undefined
    throw error
  })
