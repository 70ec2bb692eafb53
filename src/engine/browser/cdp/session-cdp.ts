/** The Chrome DevTools Protocol on sessions of the engine's own: single calls, and clients with a websocket. */
import type { Page } from 'playwright'
import type { CdpRequest } from '../../../core/engine.ts'
import { BaxError } from '../../../core/errors/errors.ts'
import { closeCodes, type Link } from '../../../core/net/link.ts'
import { withDeadline } from '../../../core/process/deadline.ts'
import { sendToClient } from '../../cdp/client-link.ts'
import { type CallGround, type CdpDone, CdpCalls } from '../../cdp/calls.ts'
import { readCall } from '../../cdp/message.ts'
import type { Session } from '../session/session.ts'

const calls = new WeakMap<Session, CdpCalls>()
const targets = new WeakMap<Page, Promise<string>>()

/** Calls one method; sessions that it attaches stay for the next call. */
export function callOn(session: Session, request: CdpRequest, signal: AbortSignal): Promise<CdpDone> {
  let kept = calls.get(session)
  if (!kept) calls.set(session, (kept = new CdpCalls(groundOf(session))))
  return withDeadline((either) => session.use(() => kept.call(request, either)), {
    signal: [signal, session.ended],
    cooperative: true,
  })
}

function groundOf(session: Session): CallGround {
  return {
    open: async () => session.openCdp(),
    activeTarget: async () => targetOf(await session.page()),
    // Events of browser sessions have a stream of their own.
    onEvent: () => {},
  }
}

function targetOf(page: Page): Promise<string> {
  let target = targets.get(page)
  if (!target) {
    const ask = async () => {
      const session = await page.context().newCDPSession(page)
      return (await session.send('Target.getTargetInfo')).targetInfo.targetId
    }
    targets.set(page, (target = ask()))
  }
  return target
}

/**
 * Lets a client speak CDP with a session.
 * @throws BaxError `unauthorized` for a token to look on, `rate_limited`, `unsupported`.
 */
export async function openClient(session: Session, token: string | null): Promise<(link: Link) => void> {
  if (session.tokens.grantOf(token ?? '')?.cdp === false)
    throw new BaxError('unauthorized', 'this token opens the live view of the session alone')
  if (token !== null) session.guests.assertRoom()
  const channel = await session.openCdp()
  const left = new AbortController()
  return (link) => {
    channel.onEvent((event) => sendToClient(link, JSON.stringify(event)))
    const leave = () => link.close(closeCodes.browserGone, 'the session has ended')
    channel.onClose(leave)
    // The browser that the session shared goes on without it.
    session.ended.addEventListener('abort', leave, { once: true })
    if (session.ended.aborted) leave()
    link.handle({
      onText: (text) => {
        const message = readCall(text)
        if (!message) return link.close(closeCodes.protocol, 'CDP is spoken in JSON')
        // A frame is activity.
        void session.use(async () => {})
        channel.post(message, (answer) => sendToClient(link, JSON.stringify(answer)))
      },
      onBytes: () => link.close(closeCodes.protocol, 'CDP is spoken in text'),
      onClose: () => {
        session.ended.removeEventListener('abort', leave)
        left.abort()
        channel.close()
      },
    })
    if (token !== null) session.guests.letIn(link, left.signal)
  }
}
