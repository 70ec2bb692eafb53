/** Names and IDs of the sessions in the local engine. Completion never starts an engine. */
import { call } from '../../client/client.ts'
import { overQuickSocket } from '../../client/quick-socket.ts'
import { engineToCall } from '../../core/state/engine-socket.ts'
import type { Io } from '../io.ts'
import { readSettings } from '../settings.ts'

/** A word that completes what is typed. */
export interface Candidate {
  readonly value: string
  readonly description: string
}

/** Timeout for the engine: completion must not wait for a busy one. */
const timeoutMs = 500

const lists = {
  sessions: { http: 'GET /sessions', about: 'url' },
  shells: { http: 'GET /shell/sessions', about: 'image' },
} as const

export async function liveNames(of: keyof typeof lists, io: Io): Promise<Candidate[]> {
  const { http, about } = lists[of]
  const { stateDir } = readSettings({}, io)
  try {
    const state = engineToCall(stateDir, io.host.uid)
    if (!state) return []
    const signal = AbortSignal.timeout(timeoutMs)
    const answer = (await call(overQuickSocket(state.socket), http, {}, { signal })) as { sessions: Live[] }
    return answer.sessions.map((one) => ({ value: one.name ?? one.session_id, description: String(one[about] ?? '') }))
  } catch {
    // Without an answer there are no candidates.
    return []
  }
}

type Live = { readonly session_id: string; readonly name?: string | null } & {
  readonly [about in 'url' | 'image']?: string
}
