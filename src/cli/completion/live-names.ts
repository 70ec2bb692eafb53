/** Names and ids of what lives in the local engine; none where no engine runs: nothing is started for a completion. */
import { call } from '../../client/client.ts'
import { overQuickSocket } from '../../client/quick-socket.ts'
import { readEngineState } from '../../core/state/local-home.ts'
import type { Io } from '../io.ts'
import { readSettings } from '../settings.ts'
import type { Candidate } from './candidates.ts'

/** Who types does not wait for an engine that is busy. */
const patienceMs = 500

const lists = {
  sessions: { http: 'GET /sessions', field: 'sessions', about: 'url' },
  shells: { http: 'GET /shell/sessions', field: 'sessions', about: 'image' },
} as const

export async function liveNames(of: keyof typeof lists, io: Io): Promise<Candidate[]> {
  const { http, field, about } = lists[of]
  const state = readEngineState(readSettings({}, io).stateDir)
  if (!state) return []
  try {
    const signal = AbortSignal.timeout(patienceMs)
    const answer = (await call(overQuickSocket(state.socket), http, {}, { signal })) as Record<string, Live[]>
    return answer[field]!.map((one) => ({ value: one.name ?? one.session_id, description: String(one[about] ?? '') }))
  } catch {
    // An engine that has gone or is busy has no names to offer; typing goes on.
    return []
  }
}

interface Live {
  readonly session_id: string
  readonly name?: string | null
  readonly url?: string
  readonly image?: string
}
