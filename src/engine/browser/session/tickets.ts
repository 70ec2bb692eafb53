/** Ways into a session for clients that follow an address and have nothing else to show: good once, and for a minute. */
import { createHash, randomBytes } from 'node:crypto'
import { limits } from '../../../core/limits/limits.ts'

interface Issued {
  readonly sessionId: string
  /** By the clock that nobody sets. */
  readonly until: number
}

export class Tickets {
  /** By their hash. */
  readonly #issued = new Map<string, Issued>()

  issue(sessionId: string): string {
    const now = performance.now()
    for (const [hash, { until }] of this.#issued) if (until <= now) this.#issued.delete(hash)
    const ticket = `ct_${randomBytes(32).toString('base64url')}`
    this.#issued.set(hashOf(ticket), { sessionId, until: now + limits.session.ticketMs })
    return ticket
  }

  /** The session that it is for; from then on it is worth nothing. */
  take(ticket: string): string | undefined {
    const hash = hashOf(ticket)
    const issued = this.#issued.get(hash)
    this.#issued.delete(hash)
    return issued && issued.until > performance.now() ? issued.sessionId : undefined
  }
}

const hashOf = (ticket: string): string => createHash('sha256').update(ticket).digest('hex')
