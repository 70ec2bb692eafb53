/** Polls an operation of the engine while its result is shown. */
import { useEffect, useRef, useState } from 'react'
import type { Client } from '../../client/client.ts'
import { asBaxError, type BaxError } from '../../core/errors/errors.ts'
import type { Operations } from '../../operations/index.ts'
import { useAppContext, useLink } from './app-context.ts'

type Name = keyof Operations & string

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
export function usePolling<Op extends Name>(
  name: Op,
  input: NonNullable<Parameters<Client[Op]>[0]>,
  { every, active = true }: PollOptions,
): Polled<Awaited<ReturnType<Client[Op]>>> {
  type Answer = Awaited<ReturnType<Client[Op]>>
  const { link } = useAppContext()
  const { is, epoch } = useLink()
  const [state, setState] = useState<{ answer?: Answer; error?: BaxError; text?: string; of?: string }>({})
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
        const answer = await link.call(name, JSON.parse(key) as never, ended.signal)
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
