/** Derives which engine an operation needs when no server is configured. */
import { BaxError } from '../../core/errors/errors.ts'
import { route } from '../../core/operation/route.ts'
import type { OperationEntry } from '../../operations/manifest.ts'
import { noEngineFor, noEngineForShell } from '../session/chosen-session.ts'
import type { Need } from './locate-engine.ts'

export function needOf(operation: OperationEntry, input: Record<string, unknown>): Need {
  if (operation.engine === 'running') return runningEngine
  const session = input['session_id']
  if (typeof session === 'string' && operation.engine !== 'any') {
    const absent = isShellOperation(operation) ? noEngineForShell(session) : noEngineFor(session)
    return { when: 'running', absent }
  }
  return operation.engine === 'start' ? { when: 'start' } : { when: 'ask' }
}

export const isShellOperation = ({ http }: OperationEntry): boolean => route(http).path.startsWith('/shell/')

/** The running engine of any version. */
export const runningEngine: Need = {
  when: 'running',
  anyVersion: true,
  absent: () =>
    new BaxError('engine_unreachable', 'no local engine is running', {
      hint: 'run "bax session create" or "bax do …" to start one',
    }),
}
