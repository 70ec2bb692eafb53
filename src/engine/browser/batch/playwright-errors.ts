/** Playwright's failures in the words and codes of the one error table. */
import { setTimeout as after } from 'node:timers/promises'
import { BaxError, type ErrorCode } from '../../../core/errors/errors.ts'
import type { BatchTarget } from './batch-target.ts'
import { withReason } from '../tabs/net-reason.ts'

/** Time that a session gets to notice the end of its browser, before a closed page counts as the page's own doing. */
const noticeMs = 200

/** What a command failed with; a session that ended under it is named before anything else. */
export async function failureOf(thrown: unknown, command: string, target: BatchTarget): Promise<BaxError> {
  const error = thrown instanceof BaxError ? thrown : translated(withReason(thrown, target.pages.at(-1)), command)
  if (error.code === 'target_closed' || error.code === 'page_crashed') await ended(target.ended)
  if (target.ended.aborted && target.ended.reason instanceof BaxError) return target.ended.reason
  // Whatever a command failed with on a page that crashed meanwhile, the crash is the reason.
  const crash = target.crashed ? await target.recover() : undefined
  if (crash) return crash
  if (error.code === 'timeout' && !target.responsive) {
    return new BaxError('timeout', `${command} was not done: the browser does not answer`, {
      cause: error,
      hint: 'try again later, or create a new session: a browser that does not answer is killed',
      details: { browser: 'unresponsive' },
    })
  }
  if (error.code === 'timeout' && openDialogs(target) > 0) {
    return new BaxError('dialog_blocking', `a dialog of the page is open and blocks ${command}`, { cause: error })
  }
  return error
}

async function ended(signal: AbortSignal): Promise<void> {
  await after(noticeMs, undefined, { signal }).catch(() => {
    // Aborted: the session's end has been noticed.
  })
}

/** Dialogs opened and not closed again, as far as the session's events tell. */
function openDialogs({ events }: BatchTarget): number {
  const count = (type: string) => events.since(0).filter((event) => event.type === type).length
  return count('dialog.opened') - count('dialog.closed')
}

const known: readonly [RegExp, ErrorCode, string][] = [
  [/page crashed|target crashed/i, 'page_crashed', 'the page crashed'],
  [/has been closed|target closed|browser closed|session closed/i, 'target_closed', 'the page was closed'],
  [/ERR_NAME_NOT_RESOLVED|ERR_NAME_RESOLUTION/, 'dns_failed', 'the host name could not be resolved'],
  [/ERR_CERT_|ERR_SSL_|ERR_BAD_SSL/, 'tls_error', 'no secure connection could be made'],
  [/ERR_TOO_MANY_REDIRECTS/, 'too_many_redirects', 'the address redirects too often'],
  [/ERR_BLOCKED_BY_|URL blocked|ERR_UNSAFE_PORT|ERR_DISALLOWED_URL_SCHEME/, 'url_blocked', 'URL blocked'],
  [
    /ERR_CONNECTION_|ERR_ADDRESS_|ERR_INTERNET_DISCONNECTED|ERR_EMPTY_RESPONSE|ERR_SOCKET|ERR_PROXY_|ERR_TUNNEL_|ERR_NETWORK_|ERR_TIMED_OUT/,
    'connection_failed',
    'the server could not be reached',
  ],
  [/download is starting/i, 'navigation_aborted', 'the address started a download instead of a page'],
  [/ERR_ABORTED/, 'navigation_aborted', 'the navigation was aborted'],
  [/net::ERR_|Cannot navigate|page\.(?:goto|reload):/, 'navigation_failed', 'the page could not be opened'],
]

/** A failure of Playwright as one of ours; what it does not know stays an internal error with its cause. */
export function translated(thrown: unknown, command: string): BaxError {
  if (thrown instanceof BaxError) return thrown
  const message = thrown instanceof Error ? thrown.message : String(thrown)
  // A time-out's call log may quote anything, so the name decides first.
  if (thrown instanceof Error && thrown.name === 'TimeoutError') {
    const ms = /Timeout (\d+)ms exceeded/.exec(message)?.[1]
    return new BaxError('timeout', `${command} was not done${ms ? ` within ${ms} ms` : ' in time'}`, { cause: thrown })
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

/** Whether a call failed because its frame or page navigated or went away under it. */
export const isGone = (error: unknown): boolean => gone.test(String(error))
