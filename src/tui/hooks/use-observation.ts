/** What a session's page shows and offers, looked at again when it may have changed. */
import { useCallback, useEffect, useRef, useState } from 'react'
import { asBaxError } from '../../core/errors/errors.ts'
import type { Observation } from '../../core/shapes/observe.ts'
import { useHouse, useLink } from './house.ts'

/** Milliseconds after a change before the page is looked at: changes come in groups. */
const settleMs = 300

interface Observed {
  readonly observation: Observation | undefined
  readonly problem: string | null
  readonly look: () => void
}

/** `changes` is a number that grows with what may have changed the page. A look is activity of the session. */
export function useObservation(
  session_id: string,
  changes: number,
  wants: { storage: boolean; active: boolean },
): Observed {
  const { link } = useHouse()
  const { is, epoch } = useLink()
  const { storage, active } = wants
  const [state, setState] = useState<{ observation?: Observation; problem: string | null }>({ problem: null })
  const run = useRef(() => {})
  useEffect(() => {
    if (!active || is !== 'up') return undefined
    const ended = new AbortController()
    const look = async () => {
      try {
        const observation = await link.ask(
          'observe',
          {
            session_id,
            include: ['snapshot', 'elements', 'tabs', ...(storage ? (['storage'] as const) : [])],
          },
          ended.signal,
        )
        if (!ended.signal.aborted) setState({ observation, problem: null })
      } catch (error) {
        if (!ended.signal.aborted) setState((before) => ({ ...before, problem: asBaxError(error).message }))
      }
    }
    run.current = () => void look()
    const timer = setTimeout(() => void look(), settleMs)
    return () => {
      clearTimeout(timer)
      ended.abort()
    }
  }, [link, session_id, changes, storage, active, is, epoch])
  const look = useCallback(() => run.current(), [])
  return { observation: state.observation, problem: state.problem, look }
}
