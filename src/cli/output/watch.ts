/** Follows the events of a session and reconnects when the connection breaks. */
import { setTimeout as after } from 'node:timers/promises'
import type { Calls, FrameOf, Unchecked } from '../../client/calls.ts'
import { BaxError } from '../../core/errors/errors.ts'
import { limits } from '../../core/limits/limits.ts'
import { type Io, note } from '../io.ts'
import { whileRead } from './reader.ts'

type EventStream = 'sessionEvents' | 'followRelayEvents'

interface WatchOptions<Name extends EventStream> {
  readonly engine: Calls
  readonly stream: Name
  readonly input: Unchecked
  readonly io: Io
  readonly onEvent: (event: FrameOf<Name>) => void
}

/** Resolves after `session.closed`, when the stream ends for good, or when nobody reads standard output any more. */
export const watch = <Name extends EventStream>(options: WatchOptions<Name>): Promise<void> =>
  whileRead(options.io, (signal) => followEvents(options, signal))

async function followEvents<Name extends EventStream>(options: WatchOptions<Name>, signal: AbortSignal): Promise<void> {
  const { engine, stream, input, io, onEvent } = options
  let from = input
  let opened = false
  let brokenAt: number | undefined
  for (;;) {
    try {
      const frames = await engine.open(stream, from, { signal, strict: true })
      if (frames === null) return
      opened = true
      brokenAt = undefined
      for await (const frame of frames) {
        onEvent(frame)
        if (frame.type === 'session.closed') return
        // After a reconnect only newer events are requested.
        const { replay: _, ...rest } = from
        from = { ...rest, since: frame.seq }
      }
    } catch (error) {
      const broken = error instanceof BaxError && error.code === 'engine_unreachable' && opened && !signal.aborted
      if (!broken) throw error
      if (brokenAt !== undefined && performance.now() - brokenAt > limits.stream.reconnectMs) throw error
    }
    if (brokenAt === undefined) note(io, 'connection lost; reconnecting')
    brokenAt ??= performance.now()
    await after(limits.stream.retryMs / 4, undefined, { signal })
  }
}
