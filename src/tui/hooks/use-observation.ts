/** Observes a session's page, and observes it again when it may have changed. */
import { useEffect, useRef, useState } from 'react'
import { asBaxError } from '../../core/errors/errors.ts'
import type { Observation } from '../../core/shapes/observe.ts'
import { useAppContext, useLink } from './app-context.ts'

const debounceMs = 300

/** `changes` is a number that grows with possible changes of the page. Observing counts as activity of the session. */
export function useObservation(
  session_id: string,
  changes: number,
  { storage, active }: { storage: boolean; active: boolean },
) {
  const { link } = useAppContext()
  const { is, epoch } = useLink()
  const [state, setState] = useState<{ observation?: Observation; problem: string | null }>({ problem: null })
  const run = useRef(() => {})
  useEffect(() => {
    if (!active || is !== 'up') return undefined
    const ended = new AbortController()
    const observe = async () => {
      try {
        const include = ['snapshot', 'elements', 'tabs', ...(storage ? (['storage'] as const) : [])] as const
        const observation = await link.call('observe', { session_id, include: [...include] }, ended.signal)
        if (!ended.signal.aborted) setState({ observation, problem: null })
      } catch (error) {
        if (!ended.signal.aborted) setState((before) => ({ ...before, problem: asBaxError(error).message }))
      }
    }
    run.current = () => void observe()
    const timer = setTimeout(run.current, debounceMs)
    return () => {
      clearTimeout(timer)
      ended.abort()
    }
  }, [link, session_id, changes, storage, active, is, epoch])
  return { observation: state.observation, problem: state.problem, refresh: () => run.current() }
}
