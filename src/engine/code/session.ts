/** The session of code: the one that its caller names, or one that the first command opens, and that ends with it. */
import { setTimeout as pause } from 'node:timers/promises'
import { assertConfirms } from '../../core/access/approvals.ts'
import { BaxError } from '../../core/errors/errors.ts'
import { limits } from '../../core/limits/limits.ts'
import type { Ask } from '../../core/operation/call.ts'
import type { CodeInput } from '../../core/shapes/jobs/code.ts'
import type { ProvisionRecord, SessionCreated, SessionRecord } from '../../core/shapes/session.ts'
import { operations } from '../../operations/index.ts'

export class CodeSession {
  readonly #ask: Ask
  readonly #input: CodeInput
  #opening: Promise<string> | undefined
  #id: string | undefined

  constructor(ask: Ask, input: CodeInput) {
    this.#ask = ask
    this.#input = input
    this.#id = input.session_id
  }

  /**
   * Finds the session that the caller names, for code that does not use it either, and checks that it holds the actions
   * that the caller wants to wait. @throws BaxError
   */
  async find(signal: AbortSignal): Promise<void> {
    const { session_id, confirm } = this.#input
    if (session_id === undefined) return
    const found = await this.#ask(operations.getSession.http, { session_id }, signal).catch((error: unknown) =>
      // It may be the name of a relay.
      this.#ask(operations.getRelay.http, { id: session_id }, signal).catch(() => {
        throw error
      }),
    )
    // Relayed browsers do not support confirm.
    assertConfirms((found as Pick<SessionRecord, 'confirm'>).confirm, confirm)
  }

  /** ID or name of the session, if there is one. */
  get id(): string | undefined {
    return this.#id
  }

  /** Returns the ID of the session, which it opens if there is none. */
  async open(signal: AbortSignal): Promise<string> {
    if (this.#input.session_id !== undefined) return this.#input.session_id
    this.#opening ??= this.#create(signal)
    return (this.#id = await this.#opening)
  }

  /** Ends the session if the code has opened it. */
  async close(signal: AbortSignal): Promise<void> {
    // A failed call has reported why there is none.
    const session_id = await this.#opening?.catch(() => undefined)
    if (session_id === undefined) return
    await this.#ask(operations.closeSession.http, { session_id }, signal).catch((error: unknown) => {
      const isEnded = error instanceof BaxError && /^session_(?:closed|not_found)$/.test(error.code)
      if (!isEnded) throw error
    })
  }

  async #create(signal: AbortSignal): Promise<string> {
    const { timeout_ms, confirm } = this.#input
    const seconds = Math.ceil(timeout_ms / 1000) + limits.code.sessionSecs
    const input = { timeout_secs: seconds, idle_timeout_secs: seconds, ...(confirm && { confirm }) }
    // The ID of a session that is being created is needed to close it, so that no signal ends this.
    const always = new AbortController().signal
    const created = (await this.#ask(operations.createSession.http, input, always)) as SessionCreated
    return created.session_id ?? this.#provisioned(created.provision_id!, signal)
  }

  async #provisioned(provision_id: string, signal: AbortSignal): Promise<string> {
    const always = new AbortController().signal
    for (;;) {
      if (signal.aborted) await this.#ask(operations.cancelProvision.http, { provision_id }, always)
      signal.throwIfAborted()
      const record = (await this.#ask(operations.pollProvision.http, { provision_id }, always)) as ProvisionRecord
      if (record.status === 'ready') return record.session_id!
      if (record.status !== 'provisioning') {
        const { error = `the provisioning was ${record.status}`, code } = record
        throw BaxError.fromBody({ error, code }, 'no_capacity')
      }
      await pause(record.retry_after_ms, undefined, { signal }).catch(() => {})
    }
  }
}
