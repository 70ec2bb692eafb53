/** One-time tickets, valid for a minute, for CDP clients that follow a URL and have no other credentials. */
import { createHash, randomBytes } from 'node:crypto'
import { limits } from '../../../core/limits/limits.ts'

interface Issued {
  readonly sessionId: string
  /** Expiry on the monotonic clock. */
  readonly until: number
}

export class Tickets {
  /** Issued tickets by their hash. */
  readonly #issued = new Map<string, Issued>()

  issue(sessionId: string): string {
    const now = performance.now()
    for (const [hash, { until }] of this.#issued) if (until <= now) this.#issued.delete(hash)
    const ticket = `ct_${randomBytes(32).toString('base64url')}`
    this.#issued.set(hashOf(ticket), { sessionId, until: now + limits.session.ticketMs })
    return ticket
  }

  /** Returns the ID of the session that the ticket is for, and invalidates the ticket. */
  take(ticket: string): string | undefined {
    const hash = hashOf(ticket)
    const issued = this.#issued.get(hash)
    this.#issued.delete(hash)
    return issued && issued.until > performance.now() ? issued.sessionId : undefined
  }
}

const hashOf = (ticket: string): string => createHash('sha256').update(ticket).digest('hex')
