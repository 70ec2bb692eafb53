/** An answer of the engine, asked for again and again while it is shown. */
import { useCallback, useEffect, useRef, useState } from 'react'
import type { Client } from '../../client/client.ts'
import { asBaxError, type BaxError } from '../../core/errors/errors.ts'
import type { Operations } from '../../operations/index.ts'
import { useHouse, useLink } from './house.ts'

type Name = keyof Operations & string

export interface Asked<Answer> {
  /** The last answer; it stays while the engine is away. */
  readonly answer: Answer | undefined
  readonly error: BaxError | undefined
  /** Asks again now. */
  readonly again: () => void
}

interface How {
  /** Milliseconds between an answer and the next question; 0 asks once. */
  readonly every: number
  /** Nothing is asked while this is false. */
  readonly active?: boolean
}

/** Asks an operation now, every so often, and when the engine was found again. An answer that says the same changes nothing. */
export function useAsk<Op extends Name>(
  name: Op,
  input: NonNullable<Parameters<Client[Op]>[0]>,
  { every, active = true }: How,
): Asked<Awaited<ReturnType<Client[Op]>>> {
  type Answer = Awaited<ReturnType<Client[Op]>>
  const { link } = useHouse()
  const { is, epoch } = useLink()
  const [state, setState] = useState<{ answer?: Answer; error?: BaxError; text?: string; of?: string }>({})
  const poke = useRef(() => {})
  const key = JSON.stringify(input)
  useEffect(() => {
    if (!active || is !== 'up') return undefined
    const ended = new AbortController()
    let timer: NodeJS.Timeout | undefined
    let asking = false
    let wanted = false
    const ask = async (): Promise<void> => {
      clearTimeout(timer)
      if (asking) return void (wanted = true)
      asking = true
      try {
        const answer = await link.ask(name, JSON.parse(key) as never, ended.signal)
        const text = JSON.stringify(answer)
        if (!ended.signal.aborted)
          setState((before) =>
            before.text === text && before.of === key && !before.error ? before : { answer, text, of: key },
          )
      } catch (error) {
        if (!ended.signal.aborted) setState((before) => ({ ...before, error: asBaxError(error) }))
      }
      asking = false
      if (ended.signal.aborted) return
      if (wanted) {
        wanted = false
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
  const again = useCallback(() => poke.current(), [])
  // What was answered to another question is no answer to this one.
  const isOld = state.of !== undefined && state.of !== key
  return { answer: isOld ? undefined : state.answer, error: state.error, again }
}
