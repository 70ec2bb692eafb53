/** Derives which engine an operation needs when no server is configured. */
import { BaxError } from '../../core/errors/errors.ts'
import { route } from '../../core/operation/route.ts'
import type { OperationEntry } from '../../operations/manifest.ts'
import { noEngineFor, noEngineForShell } from '../session/chosen-session.ts'
import type { Need } from './locate-engine.ts'

export function needOf(operation: OperationEntry, input: Record<string, unknown>): Need {
  if (operation.name === 'getEngineStatus' || operation.name === 'stopEngine') return runningEngine
  const session = input['session_id']
  if (typeof session === 'string' && isShellOperation(operation)) return needOfShell(operation, session)
  if (typeof session === 'string') return { when: 'running', absent: noEngineFor(session) }
  return outlivesCommand(operation) ? { when: 'start' } : { when: 'ask' }
}

export const isShellOperation = ({ http }: OperationEntry): boolean => route(http).path.startsWith('/shell/')

/** Artifacts outlive their engine; other data of a session does not. */
const needOfShell = ({ http }: OperationEntry, session: string): Need =>
  route(http).path.startsWith('/shell/artifacts/')
    ? { when: 'ask' }
    : { when: 'running', absent: noEngineForShell(session) }

/** Checks if an operation creates something that outlives the command, and so needs an engine that does. */
export const outlivesCommand = ({ http }: OperationEntry): boolean => {
  const { method, path } = route(http)
  return method === 'POST' && ['/sessions', '/commands', '/shell/sessions'].includes(path)
}

/** The running engine of any version. */
export const runningEngine: Need = {
  when: 'running',
  anyVersion: true,
  absent: () =>
    new BaxError('engine_unreachable', 'no local engine is running', {
      hint: 'run "bax session create" or "bax do …" to start one',
    }),
}
