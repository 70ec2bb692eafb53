/** Scrapes pages and maps sites with the cookies of a session, apart from its tabs. */
import type { Crawls, Scraper } from '../../core/engine.ts'
import { assertMaySkipTls, type TlsRule } from '../../core/errors/certificates.ts'
import { isProxyKind } from '../../core/identity.ts'
import type { Call } from '../../core/operation/call.ts'
import type { MapInput } from '../../core/shapes/crawl.ts'
import type { IdentityInput } from '../../core/shapes/read/identity.ts'
import type { ScrapeInput } from '../../core/shapes/scrape.ts'
import { runQueued } from '../browser/live/control-wait.ts'
import type { LiveSession } from '../browser/ports/session.ts'
import type { FindSession } from '../browser/session/own-session.ts'
import { scrapeUrl } from '../render/http/web-url.ts'
import { ProxyLists } from '../render/identity/read-proxies.ts'
import type { RequestSigner } from '../render/identity/safe-signer.ts'
import { type OpenIdentity, phone, signerOf } from '../scrape/identity/open-identity.ts'
import { planScrape } from '../scrape/plan.ts'
import type { PageScraper } from '../scrape/scraper.ts'
import { openSessionIdentity, refuseBeside } from './session-identity.ts'

interface SessionReadContext extends TlsRule {
  readonly live: FindSession
  readonly botKey: () => Promise<RequestSigner | undefined>
}

/** Crawls whose maps are read with the identity that `open` opens. */
export interface MapsWithIdentity extends Crawls {
  map(input: MapInput, call: Pick<Call, 'caller' | 'signal'>, open?: OpenIdentity): ReturnType<Crawls['map']>
}

type Fields = Pick<ScrapeInput, 'allowed_domains'> & IdentityInput & { readonly url: string }

/** @throws BaxError `invalid_request`, and the errors of sessions and scrapes */
export async function scrapeInSession(
  { scraper, live, ...shared }: SessionReadContext & { readonly scraper: () => Promise<PageScraper> },
  input: ScrapeInput & { readonly session_id: string },
  call: Pick<Call, 'caller' | 'signal'>,
): ReturnType<Scraper['scrape']> {
  const session = live(input.session_id, call.caller)
  assertFits(input, session)
  assertMaySkipTls(input, shared)
  const { timeoutMs } = planScrape(input, call.caller.keyId)
  return runQueued(session, call, { timeout_ms: timeoutMs }, async () => {
    const { allowed_domains = input.allowed_domains } = session.input
    const ending = { ...call, signal: AbortSignal.any([call.signal, session.ended]) }
    return (await scraper()).scrape({ ...input, allowed_domains }, ending, () => open(input, session, shared.botKey))
  })
}

/**
 * Maps a site. Commands of the session wait while its cookies are read, and not for the whole map.
 * @throws BaxError `invalid_request`, and the errors of sessions and maps
 */
export async function mapInSession(
  { crawls, live, ...shared }: SessionReadContext & { readonly crawls: Pick<MapsWithIdentity, 'map'> },
  input: MapInput & { readonly session_id: string },
  call: Pick<Call, 'caller' | 'signal'>,
): ReturnType<Crawls['map']> {
  const session = live(input.session_id, call.caller)
  assertFits(input, session)
  assertMaySkipTls(input, shared)
  const waiting = { timeout_ms: input.timeout_secs * 1000 }
  return session.use(async () => {
    const { allowed_domains = input.allowed_domains } = session.input
    const ending = { ...call, signal: AbortSignal.any([call.signal, session.ended]) }
    const opened = () => runQueued(session, call, waiting, () => open(input, session, shared.botKey))
    const answer = await crawls.map({ ...input, allowed_domains }, ending, opened)
    // A session that has ended cancels the map, which is incomplete then.
    session.ended.throwIfAborted()
    return answer
  })
}

async function open(input: Fields, session: LiveSession, botKey: SessionReadContext['botKey']) {
  const { headers, cookies, user_agent, locale, timezone, geolocation, location, sign, mobile, skip_tls_verification } =
    input
  const signer = sign ? await signerOf(botKey) : undefined
  const device = mobile ? await phone() : undefined
  const { proxy } = session.input
  const { identity, store } = await openSessionIdentity(
    session,
    { headers, cookies, user_agent, locale, timezone, geolocation, location, skip_tls_verification },
    {
      start: new URL(scrapeUrl(input.url)),
      ...(signer && { signer }),
      ...(device && { device }),
      ...(proxy && { proxies: new ProxyLists().open(proxy, session.owner) }),
    },
  )
  return { identity, save: store }
}

function assertFits(input: Fields, { input: { allowed_domains: own } }: LiveSession): void {
  const { proxy, ...others } = input
  const named = isProxyKind(proxy) ? others : input
  refuseBeside(named, ['profile', 'save_profile', 'proxy'], 'leave it out: a session has its own')
  refuseBeside(named, ['actions'], 'run commands in the session, and then scrape')
  if (own) refuseBeside(named, ['allowed_domains'], 'leave it out: the session has allowed domains of its own')
}
