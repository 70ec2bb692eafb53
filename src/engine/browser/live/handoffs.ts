/** The handoffs of sessions, of which each has at most one that is open. */
import type { HandoffInput, HandoffRecord } from '../../../core/access/handoffs.ts'
import type { Handoffs as EngineHandoffs } from '../../../core/engine.ts'
import { BaxError } from '../../../core/errors/errors.ts'
import { limits } from '../../../core/limits/limits.ts'
import type { Call } from '../../../core/operation/call.ts'
import { withDeadline } from '../../../core/process/deadline.ts'
import { normaliseUrl } from '../../../core/net/urls.ts'
import type { Egress, RequestRules } from '../../egress/egress.ts'
import { postWebhook } from '../../post-webhook.ts'
import { evictOldest } from '../../evict-oldest.ts'
import { oncePer } from '../../../core/once-per.ts'
import { urlsOf } from '../links/session-urls.ts'
import type { LiveSession, LiveSessions } from '../ports/session.ts'
import { runQueued } from './control-wait.ts'
import { observeBefore } from './handoff-change.ts'
import { Handoff } from './handoff.ts'

/**
 * Runs `work` after earlier commands; at once when one of them waits for an approval: a person who is asked for both needs
 * to see both.
 */
async function unlessHeld<T>(
  session: LiveSession,
  { signal }: Pick<Call, 'signal'>,
  work: () => Promise<T>,
): Promise<T> {
  const held = new AbortController()
  const hold = () => held.abort()
  const stop = session.events.listen(({ type }) => type === 'approval.requested' && hold())
  if (session.approvals?.list.length) hold()
  const begin = () => {
    stop()
    return work()
  }
  try {
    return await runQueued(session, { signal: AbortSignal.any([signal, held.signal]) }, {}, begin)
  } catch (error) {
    if (!held.signal.aborted || signal.aborted || session.ended.aborted) throw error
    return session.use(work)
  } finally {
    stop()
  }
}

interface HandoffParts {
  readonly egress: Egress
  /** Key of the signature of webhooks. */
  readonly webhookSecret?: string | undefined
}

/** Anyone who reads a request can use its URL for the person, and the receiver cannot tell who has sent it. */
const unsigned = 'notify: the requests are not signed, because BAX_WEBHOOK_SECRET is not set'

/** Returns the handoffs of a session. */
export const handoffsIn = oncePer((session: LiveSession) => new SessionHandoffs(session))

class SessionHandoffs {
  readonly #session: LiveSession
  readonly #all = new Map<string, Handoff>()
  readonly #listeners = new Set<() => void>()

  constructor(session: LiveSession) {
    this.#session = session
  }

  /** The one that waits for a person. */
  get current(): Handoff | undefined {
    return [...this.#all.values()].find(({ open }) => open)
  }

  /** Calls `listener` when a handoff begins or ends; returns a function that stops it. */
  watch(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  async request(input: HandoffInput, call: Call, { egress, webhookSecret }: HandoffParts): Promise<HandoffRecord> {
    const session = this.#session
    const url = urlsOf(session, call).live_view_url
    if (url === null)
      throw new BaxError('unsupported', 'an embedded engine serves no live view', {
        hint: 'run the command without --embedded',
      })
    this.#assertNone()
    const notify = input.notify === undefined ? undefined : normaliseUrl(input.notify, 'notify')
    const from = call.caller.keyId
    if (notify) await egress.check(notify, { from, signal: call.signal })
    const send = notify ? senderTo(notify, egress.rulesFor(from), webhookSecret) : undefined
    const warning = notify && webhookSecret === undefined ? unsigned : undefined
    // Created before the queue continues: a viewer who waits for control behind it takes over for this handoff.
    const handoff = await unlessHeld(session, call, async () => {
      const before = await observeBefore(session, call.signal)
      call.signal.throwIfAborted()
      this.#assertNone()
      return this.#add(
        new Handoff({ session, input, url, before, onChange: () => this.#notify(), notify: send, warning }),
      )
    })
    return handoff.record
  }

  #add(handoff: Handoff): Handoff {
    this.#all.set(handoff.id, handoff)
    evictOldest(this.#all, limits.handoffs.remembered)
    this.#notify()
    return handoff
  }

  /** @throws BaxError `handoff_not_found` */
  find(id: string): Handoff {
    const found = this.#all.get(id)
    if (!found) throw new BaxError('handoff_not_found', `the session has no handoff ${JSON.stringify(id)}`)
    return found
  }

  #assertNone(): void {
    const { current } = this
    if (!current) return
    throw new BaxError('conflict', 'a person has already been asked to take over this session', {
      hint: 'withdraw that handoff, or wait for its end',
      details: { handoff_id: current.id },
    })
  }

  #notify(): void {
    for (const listener of this.#listeners) listener()
  }
}

/** Returns a function that sends an event of a handoff, in the form of events of jobs. */
const senderTo =
  (url: string, rules: RequestRules, key: string | undefined) => async (type: string, handoff: HandoffRecord) => {
    const { handoff_id: id, status } = handoff
    const success = status !== 'declined' && status !== 'expired' && status !== 'withdrawn'
    const body = { success, type, id, data: [handoff] }
    return postWebhook({ url, event: `${id}-${type}`, body, key }, rules, new AbortController().signal)
  }

/** Returns the interface to the handoffs of all sessions. */
export const handoffsOf = (sessions: LiveSessions, parts: HandoffParts): EngineHandoffs => ({
  request: (input, call) => handoffsIn(sessions.live(input.session_id, call.caller)).request(input, call, parts),
  get: async (sessionId, id, waitSecs, { caller, signal }) => {
    const session = sessions.live(sessionId, caller)
    const handoff = handoffsIn(session).find(id)
    await withDeadline(handoff.settled, { ms: waitSecs * 1000, value: undefined, signal: [signal, session.ended] })
    return handoff.record
  },
  withdraw: async (sessionId, id, { caller }) => {
    const handoff = handoffsIn(sessions.live(sessionId, caller)).find(id)
    handoff.finish('withdrawn')
    await handoff.settled
  },
  list: async (call) => sessions.seenBy(call).flatMap((session) => handoffsIn(session).current?.record ?? []),
})
