/** Creates sessions, including those that first wait for a browser. */
import { setTimeout as after } from 'node:timers/promises'
import { BaxError, type ErrorCode } from '../core/errors/errors.ts'
import type { Link } from './link.ts'

interface CreatedSession {
  readonly session_id: string
  readonly warning?: string
}

/** Creates a session and waits until it is ready; reports progress to `notify`. @throws BaxError from the engine. */
export async function createSession(
  link: Link,
  input: { readonly start_url?: string },
  notify: (text: string) => void,
): Promise<CreatedSession> {
  const { session_id, warning, provision_id } = await link.call('createSession', input)
  if (session_id !== undefined) return { session_id, ...(warning !== undefined && { warning }) }
  for (;;) {
    const state = await link.call('pollProvision', { provision_id: provision_id! })
    if (state.session_id !== null)
      return { session_id: state.session_id, ...(state.warning && { warning: state.warning }) }
    if (state.status === 'failed' || state.status === 'cancelled')
      throw new BaxError((state.code ?? 'no_capacity') as ErrorCode, state.error ?? 'the session could not be created')
    notify(
      `waiting for a browser: ${state.stage}${state.queue_position ? `, ${state.queue_position} in the queue` : ''}`,
    )
    await after(state.retry_after_ms)
  }
}
