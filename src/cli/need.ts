/** What an operation needs of an engine, when no server is named. */
import { BaxError } from '../core/errors.ts'
import { route } from '../core/operation.ts'
import type { OperationEntry } from '../operations/manifest.ts'
import { noEngineFor } from './chosen-session.ts'
import type { Need } from './home.ts'

export function needOf(operation: OperationEntry, input: Record<string, unknown>): Need {
  if (operation.name === 'getEngineStatus' || operation.name === 'stopEngine') return runningEngine
  if (typeof input['session_id'] === 'string') return { when: 'running', absent: noEngineFor(input['session_id']) }
  return outlivesItself(operation) ? { when: 'start' } : { when: 'ask' }
}

/** Whether what an operation makes lives on after the command: then an engine must, too. */
export const outlivesItself = ({ http }: OperationEntry): boolean => {
  const { method, path } = route(http)
  return method === 'POST' && (path === '/sessions' || path === '/commands')
}

/** The engine that runs, whatever its version. */
export const runningEngine: Need = {
  when: 'running',
  anyVersion: true,
  absent: () =>
    new BaxError('engine_unreachable', 'no local engine is running', {
      hint: '`bax session create` or any `bax do …` starts one',
    }),
}
