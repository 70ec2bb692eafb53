/** Reports on stderr that commands wait for a person: for the control of their session, or for an approval. */
import { setTimeout as pause } from 'node:timers/promises'
import type { Calls } from '../../client/calls.ts'
import { type Io, note } from '../io.ts'

/** Delay before the first check: most commands finish sooner and need no second request. */
const firstMs = 500
const intervalMs = 1000

/** Waits for `work`; meanwhile polls the session, and reports on stderr what waits for a person. */
export async function withControlNotice<T>(
  io: Io,
  calls: Calls,
  session: string | undefined,
  work: Promise<T>,
): Promise<T> {
  if (session === undefined) return work
  let done: AbortController | undefined
  const timer = setTimeout(() => {
    done = new AbortController()
    void watch(io, calls, session, done.signal)
  }, firstMs)
  try {
    return await work
  } finally {
    clearTimeout(timer)
    done?.abort()
  }
}

async function watch(io: Io, { ask }: Calls, session_id: string, signal: AbortSignal): Promise<void> {
  const noted = new Set<string>()
  const noteOnce = (id: string, text: string) => {
    if (!noted.has(id)) note(io, text)
    noted.add(id)
  }
  try {
    for (; ; await pause(intervalMs, undefined, { signal })) {
      const record = await ask('getSession', { session_id }, { signal })
      if (record.controlled_by_person) {
        noteOnce('control', `waiting: a person has control of session ${session_id}`)
        if (!record.confirm) return
      }
      if (!record.approvals_waiting) continue
      const { approvals } = await ask('listApprovals', {}, { signal })
      for (const { approval_id: id, kind, session_id: of } of approvals)
        if (of === record.session_id)
          noteOnce(id, `waiting: a person has to approve ${kind} with "bax approve ${id}", or in "bax tui"`)
    }
  } catch {
    // The command is done, or its own error reports the problem.
  }
}
