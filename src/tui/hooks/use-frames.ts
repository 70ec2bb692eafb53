/** Follows a stream of the engine, and resumes it after a reconnect. */
import { useEffect, useEffectEvent, useRef, useState } from 'react'
import { type FrameOf, type Input, type StreamName, uncheckedFields } from '../../client/calls.ts'
import { asBaxError, type BaxError } from '../../core/errors/errors.ts'
import { useAppContext, useLink } from './app-context.ts'

interface StreamOptions<Name extends StreamName> {
  /** Operation that opens the stream. */
  readonly stream: Name
  readonly input: Input<Name>
  readonly active?: boolean
  /** Called with all frames of one batch. */
  readonly onFrames: (frames: readonly FrameOf<Name>[]) => void
  /** Duration of a batch, in milliseconds. */
  readonly batchMs?: number
  /** Sequence number to start after; by default the stream starts with new frames. */
  readonly since?: number
}

/** Follows a stream while it is shown; continues after the last received frame. */
export function useFrames<Name extends StreamName>({
  stream,
  input,
  active = true,
  onFrames,
  batchMs = 100,
  since,
}: StreamOptions<Name>) {
  const { link } = useAppContext()
  const { is, epoch } = useLink()
  const [state, setState] = useState<{ state: 'opening' | 'open' | 'ended'; error?: BaxError }>({ state: 'opening' })
  const handle = useEffectEvent(onFrames)
  const key = JSON.stringify(input)
  const seen = useRef<{ of: string; seq: number | undefined }>({ of: '', seq: undefined })
  useEffect(() => {
    if (!active || is !== 'up') return undefined
    const ended = new AbortController()
    const of = `${stream} ${key}`
    if (seen.current.of !== of) seen.current = { of, seq: since }
    let held: FrameOf<Name>[] = []
    let timer: NodeJS.Timeout | undefined
    const flush = () => {
      timer = undefined
      const frames = held
      held = []
      if (frames.length > 0 && !ended.signal.aborted) handle(frames)
    }
    const run = async () => {
      try {
        const from = seen.current.seq
        const request = uncheckedFields({ ...JSON.parse(key), ...(from !== undefined && { since: from }) })
        const frames = await link.follow(stream, request, ended.signal)
        if (frames === null) return setState({ state: 'ended' })
        setState({ state: 'open' })
        for await (const frame of frames) {
          if (typeof frame.seq === 'number') seen.current.seq = frame.seq
          held.push(frame)
          timer ??= setTimeout(flush, batchMs)
        }
        if (!ended.signal.aborted) setState({ state: 'ended' })
      } catch (error) {
        if (ended.signal.aborted) return
        link.handleError(error)
        setState({ state: 'ended', error: asBaxError(error) })
      }
    }
    void run()
    return () => {
      flush()
      ended.abort()
      clearTimeout(timer)
    }
  }, [link, stream, key, active, is, epoch, batchMs, since])
  return state
}
