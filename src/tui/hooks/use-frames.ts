/** The frames of a stream as they come, resumed where it broke off. */
import { useEffect, useRef, useState } from 'react'
import { asBaxError, type BaxError } from '../../core/errors/errors.ts'
import type { Frame } from '../../core/operation/stream.ts'
import { useHouse, useLink } from './house.ts'

interface Following {
  /** Name of the stream. */
  readonly stream: string
  readonly input: Readonly<Record<string, unknown>>
  readonly active?: boolean
  /** Called with the frames of a moment together. */
  readonly onFrames: (frames: readonly Frame[]) => void
  /** Milliseconds that a moment lasts. */
  readonly moment?: number
  /** Where a stream begins that is followed for the first time; the present when not given. */
  readonly since?: number
}

/** What is known of a stream. */
interface StreamState {
  readonly state: 'opening' | 'open' | 'ended'
  readonly error?: BaxError
}

/** Follows a stream while it is shown; comes back after the last frame that it saw. */
export function useFrames({ stream, input, active = true, onFrames, moment = 100, since }: Following): StreamState {
  const { link } = useHouse()
  const { is, epoch } = useLink()
  const [state, setState] = useState<StreamState>({ state: 'opening' })
  const handler = useRef(onFrames)
  useEffect(() => {
    handler.current = onFrames
  })
  const key = JSON.stringify(input)
  const seen = useRef<{ of: string; seq: number | undefined }>({ of: '', seq: undefined })
  useEffect(() => {
    if (!active || is !== 'up') return undefined
    const ended = new AbortController()
    const of = `${stream} ${key}`
    if (seen.current.of !== of) seen.current = { of, seq: since }
    let held: Frame[] = []
    let timer: NodeJS.Timeout | undefined
    const flush = () => {
      timer = undefined
      const frames = held
      held = []
      if (frames.length > 0 && !ended.signal.aborted) handler.current(frames)
    }
    const run = async () => {
      try {
        const from = seen.current.seq
        const asked = { ...(JSON.parse(key) as object), ...(from !== undefined && { since: from }) }
        const frames = await link.follow(stream, asked, ended.signal)
        if (frames === null) return setState({ state: 'ended' })
        setState({ state: 'open' })
        for await (const frame of frames) {
          if (typeof frame.seq === 'number') seen.current.seq = frame.seq
          held.push(frame)
          timer ??= setTimeout(flush, moment)
        }
        if (!ended.signal.aborted) setState({ state: 'ended' })
      } catch (error) {
        if (ended.signal.aborted) return
        link.noticed(error)
        setState({ state: 'ended', error: asBaxError(error) })
      }
    }
    void run()
    return () => {
      flush()
      ended.abort()
      clearTimeout(timer)
    }
  }, [link, stream, key, active, is, epoch, moment, since])
  return state
}
