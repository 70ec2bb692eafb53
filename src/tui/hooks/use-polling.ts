/** Polls an operation of the engine, or the clock, while the result is shown. */
import { useEffect, useRef, useState } from 'react'
import { asBaxError, type BaxError } from '../../core/errors/errors.ts'
import type { Answer, Input, OperationName } from '../../client/calls.ts'
import { useAppContext, useLink } from './app-context.ts'

export interface Polled<Answer> {
  /** The last response; kept while the engine is unreachable. */
  readonly answer: Answer | undefined
  readonly error: BaxError | undefined
  /** Polls now. */
  readonly refresh: () => void
}

interface PollOptions {
  /** Milliseconds between a response and the next request; 0 for a single request. */
  readonly every: number
  /** Whether to poll; true by default. */
  readonly active?: boolean
}

/** Calls an operation now, at an interval, and after a reconnect. Renders again only when the response has changed. */
export function usePolling<Name extends OperationName>(
  name: Name,
  input: Input<Name>,
  { every, active = true }: PollOptions,
): Polled<Answer<Name>> {
  const { link } = useAppContext()
  const { is, epoch } = useLink()
  const [state, setState] = useState<{ answer?: Answer<Name>; error?: BaxError; text?: string; of?: string }>({})
  const poke = useRef(() => {})
  const key = JSON.stringify(input)
  useEffect(() => {
    if (!active || is !== 'up') return undefined
    const ended = new AbortController()
    let timer: NodeJS.Timeout | undefined
    let isAsking = false
    let isQueued = false
    const ask = async (): Promise<void> => {
      clearTimeout(timer)
      if (isAsking) return void (isQueued = true)
      isAsking = true
      try {
        const answer = await link.call(name, JSON.parse(key) as Input<Name>, ended.signal)
        const text = JSON.stringify(answer)
        if (!ended.signal.aborted)
          setState((before) =>
            before.text === text && before.of === key && !before.error ? before : { answer, text, of: key },
          )
      } catch (error) {
        if (!ended.signal.aborted) setState((before) => ({ ...before, error: asBaxError(error) }))
      }
      isAsking = false
      if (ended.signal.aborted) return
      if (isQueued) {
        isQueued = false
        return ask()
      }
      if (every > 0) timer = setTimeout(() => void ask(), every)
    }
    poke.current = () => void ask()
    void ask()
    return () => {
      ended.abort()
      clearTimeout(timer)
    }
  }, [link, name, key, every, active, is, epoch])
  // A response to an earlier input does not answer this one.
  const isOld = state.of !== undefined && state.of !== key
  return { answer: isOld ? undefined : state.answer, error: state.error, refresh: () => poke.current() }
}

/** Returns the current time and renders again at an interval, for ages in lists. */
export function useNow(every: number): number {
  const [now, setNow] = useState(() => Date.now())
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), every)
    return () => clearInterval(timer)
  }, [every])
  return now
}
