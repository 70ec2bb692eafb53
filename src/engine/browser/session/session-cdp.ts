/** CDP on browser sessions: single calls, and WebSocket clients. */
import type { Page } from 'playwright'
import type { CdpRequest } from '../../../core/shapes/relay.ts'
import { BaxError } from '../../../core/errors/errors.ts'
import { closeCodes, type Link } from '../../../core/net/link.ts'
import { withDeadline } from '../../../core/process/deadline.ts'
import { CdpCalls, type CdpDone } from '../../cdp/calls.ts'
import { readCall, sendToClient } from '../../cdp/message.ts'
import type { ApprovalControl } from '../ports/approvals.ts'
import { pageLeft } from '../approvals/shown-document.ts'
import type { LiveSession } from '../ports/session.ts'
import { oncePer } from '../../../core/once-per.ts'

const callsOf = oncePer((session: LiveSession) => {
  const activeTarget = async () => targetOf(await session.page())
  // Browser sessions have their own event stream.
  return new CdpCalls({ open: () => session.openCdp(), activeTarget, onEvent() {} })
})

const targetOf = oncePer(async (page: Page) => {
  const session = await page.context().newCDPSession(page)
  return (await session.send('Target.getTargetInfo')).targetInfo.targetId
})

/** Calls one method; protocol sessions stay attached for the next call. */
export function callOn(session: LiveSession, request: CdpRequest, signal: AbortSignal): Promise<CdpDone> {
  const call = async (either: AbortSignal) => {
    if (session.approvals) await approve(session.approvals, session, request, either)
    return callsOf(session).call(request, either)
  }
  return withDeadline((either) => session.use(() => call(either)), {
    signal: [signal, session.ended],
    cooperative: true,
  })
}

/** Waits for a person, whichever actions the session confirms: a CDP call can perform any of them. */
async function approve(
  approvals: ApprovalControl,
  session: LiveSession,
  { method, params }: CdpRequest,
  signal: AbortSignal,
): Promise<void> {
  const page = await session.page()
  await approvals.askForCode({ command: 'cdp' }, `${method} ${JSON.stringify(params ?? {})}`, page.mainFrame(), [
    signal,
  ])
  // The call goes to the active tab.
  if (session.activePage !== page) throw pageLeft()
}

/** Connects a CDP client. @throws BaxError `unauthorized` for view tokens, `rate_limited`, `unsupported`. */
export async function openClient(session: LiveSession, token: string | null): Promise<(link: Link) => void> {
  // Clients can perform every action that a person has to approve.
  if (session.approvals)
    throw new BaxError('unsupported', 'CDP clients are not served for a session with confirm', {
      hint: 'use browser commands, or single calls ("bax cdp"), which wait for approval',
    })
  if (session.tokens.grantOf(token ?? '')?.cdp === false)
    throw new BaxError('unauthorized', 'this token grants access only to the live view of the session')
  if (token !== null) session.tokens.assertRoom()
  const channel = await session.use(() => session.openCdp())
  const left = new AbortController()
  return (link) => {
    let leaveDialogs: (() => void) | undefined
    channel.onEvent((event) => sendToClient(link, JSON.stringify(event)))
    const leave = () => link.close(closeCodes.browserGone, 'the session has ended')
    channel.onClose(leave)
    // The shared browser keeps running after the session.
    session.ended.addEventListener('abort', leave, { once: true })
    if (session.ended.aborted) leave()
    link.handle({
      onText: (text) => {
        const message = readCall(text)
        if (!message) return link.close(closeCodes.protocol, 'invalid CDP message')
        // A message counts as activity.
        void session.use(async () => {})
        // From now on the client receives dialogs.
        if (message.method === 'Page.enable') leaveDialogs ??= session.dialogs.addClient()
        channel.post(message, (answer) => sendToClient(link, JSON.stringify(answer)))
      },
      onBytes: () => link.close(closeCodes.protocol, 'CDP accepts only text messages'),
      onClose: () => {
        session.ended.removeEventListener('abort', leave)
        left.abort()
        leaveDialogs?.()
        channel.close()
      },
    })
    if (token !== null) session.tokens.count(link, left.signal)
  }
}
