import { expect, test } from 'vitest'
import type { CdpChannel, CdpMessage } from '../../../../src/engine/cdp/router.ts'
import { LocalExecutor } from '../../../../src/engine/relay/commands/executor.ts'
import type { BatchTools } from '../../../../src/engine/browser/batch/run-batch.ts'

/** A channel to a browser that answers nothing and says `event` at the first call. */
function channelSaying(event: unknown): CdpChannel & { closed: Promise<void> } {
  let tell: (message: CdpMessage) => void
  const ends = new Set<() => void>()
  let close = () => {}
  const closed = new Promise<void>((resolve) => (close = resolve))
  ends.add(close)
  return {
    closed,
    send: () => new Promise(() => {}),
    post: () => tell(event as CdpMessage),
    onEvent: (listener) => void (tell = listener),
    onClose: (listener) => void ends.add(listener),
    close: () => {
      for (const end of ends) end()
      ends.clear()
    },
  }
}

test.each([
  ['that is none', []],
  ['without its parts', { method: 'Target.attachedToTarget' }],
  ['with a session of no name', { method: 'Page.loadEventFired', sessionId: 5 }],
])("an event %s of somebody's connector ends the channel, and the call", async (_, event) => {
  const channel = channelSaying(event)
  const executor = new LocalExecutor({
    sessionId: 'ses',
    open: async () => channel,
    active: () => null,
    tools: {} as BatchTools,
  })
  const { signal } = new AbortController()
  await expect(executor.execute('run', { commands: [] }, signal)).rejects.toThrow(/closed/)
  await channel.closed
})
