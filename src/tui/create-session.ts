/** A session that is ready, however long a browser for it takes. */
import { setTimeout as after } from 'node:timers/promises'
import { BaxError, type ErrorCode } from '../core/errors/errors.ts'
import type { Link } from './link.ts'

interface Made {
  readonly session_id: string
  readonly warning?: string
}

/** Creates it and waits; `say` hears how far it is. @throws BaxError as the engine answers. */
export async function createSession(
  link: Link,
  input: { readonly start_url?: string },
  say: (text: string) => void,
): Promise<Made> {
  const created = await link.ask('createSession', input)
  const warning = created.warning === undefined ? {} : { warning: created.warning }
  if (created.session_id !== undefined) return { session_id: created.session_id, ...warning }
  const provision_id = created.provision_id!
  for (;;) {
    const state = await link.ask('pollProvision', { provision_id })
    if (state.session_id !== null)
      return { session_id: state.session_id, ...(state.warning && { warning: state.warning }) }
    if (state.status === 'failed' || state.status === 'cancelled')
      throw new BaxError((state.code ?? 'no_capacity') as ErrorCode, state.error ?? 'the session was not made')
    say(`waiting for a browser: ${state.stage}${state.queue_position ? `, ${state.queue_position} in the queue` : ''}`)
    await after(state.retry_after_ms)
  }
}
