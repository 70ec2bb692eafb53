import { expect, test } from 'vitest'
import type { CdpChannel, CdpMessage } from '../../../../src/engine/cdp/router.ts'
import { LocalExecutor } from '../../../../src/engine/relay/commands/executor.ts'
import type { BatchTools } from '../../../../src/engine/browser/batch/run-batch.ts'

/** Channel to a browser that never responds and sends `event` at the first call. */
function channelSending(event: unknown): CdpChannel & { closed: Promise<void> } {
  let emit: (message: CdpMessage) => void
  const ends = new Set<() => void>()
  let close = () => {}
  const closed = new Promise<void>((resolve) => (close = resolve))
  ends.add(close)
  return {
    closed,
    send: () => new Promise(() => {}),
    post: () => emit(event as CdpMessage),
    onEvent: (listener) => void (emit = listener),
    onClose: (listener) => void ends.add(listener),
    close: () => {
      for (const end of ends) end()
      ends.clear()
    },
  }
}

test.each([
  ['that is malformed', []],
  ['without its fields', { method: 'Target.attachedToTarget' }],
  ['with an invalid session ID', { method: 'Page.loadEventFired', sessionId: 5 }],
])('an event %s closes the channel and fails the call', async (_, event) => {
  const channel = channelSending(event)
  const executor = new LocalExecutor({
    sessionId: 'ses',
    open: async () => channel,
    active: () => null,
    policy: 'full',
    tools: {} as BatchTools,
  })
  const { signal } = new AbortController()
  await expect(executor.execute('run', { commands: [] }, signal)).rejects.toThrow(/closed/)
  await channel.closed
})
