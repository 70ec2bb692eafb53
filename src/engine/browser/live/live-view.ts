/** The live view of a session: addresses that open it, and the view itself. */
import { BaxError } from '../../../core/errors/errors.ts'
import type { Link } from '../../../core/net/link.ts'
import type { LiveViewLink } from '../../../core/shapes/live-view.ts'
import type { Bases } from '../session/session-urls.ts'
import type { Session } from '../session/session.ts'
import { Viewer } from './viewer.ts'

/** @throws BaxError `unsupported` where nothing serves it, `rate_limited`. */
export function linkLiveView(session: Session, control: boolean, bases: Bases): LiveViewLink {
  const address = session.addresses(bases).live_view_url
  if (address === null) {
    throw new BaxError('unsupported', 'an engine inside a command serves no live view', {
      hint: 'leave --embedded out, so that the session stays in an engine that does',
    })
  }
  const token = session.tokens.add({ control, cdp: false })
  return { live_view_url: `${address}?token=${token}`, token, control }
}

/** Whoever has shown no token has a key, and drives with it. @throws BaxError `rate_limited`. */
export function openLiveView(session: Session, token: string | null): (link: Link) => void {
  const grant = token === null ? { control: true, cdp: true } : session.tokens.grantOf(token)!
  if (token !== null) session.guests.assertRoom()
  return (link) => {
    const viewer = new Viewer(session, link, grant)
    viewer.start()
    if (token !== null) session.guests.letIn(link, viewer.gone)
  }
}
