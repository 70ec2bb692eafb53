/**
 * Notifies a client that its call waits for a person. No tool approves or rejects: an agent must not decide about its
 * own actions. Clients that can ask their person get a question instead (`pending.ts`).
 */
import { setTimeout as pause } from 'node:timers/promises'
import { limits } from '../core/limits/limits.ts'
import type { ApprovalRecord } from '../core/access/approvals.ts'
import type { Connection } from './connection.ts'

/** Interval of polling for waiting actions. */
const intervalMs = 1000

export interface ApprovalNotice {
  readonly text: string
  /** Time that the action has waited, and its limit. */
  readonly waitedSecs: number
  readonly mostSecs: number
}

/** Runs a call; reports the actions that wait in its sessions, repeatedly, so that clients do not cancel the call. */
export async function withApprovalNotices<T>(
  connection: Connection,
  say: (notice: ApprovalNotice) => Promise<void>,
  work: () => Promise<T>,
): Promise<T> {
  if (!connection.options.confirm) return work()
  const done = new AbortController()
  // The result of the call reports any problem that matters.
  void watch(connection, say, done.signal).catch(() => {})
  try {
    return await work()
  } finally {
    done.abort()
  }
}

async function watch(
  connection: Connection,
  say: (notice: ApprovalNotice) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  const saidAt = new Map<string, number>()
  for await (const approvals of waitingApprovals(connection, signal)) {
    for (const one of approvals) {
      const now = performance.now()
      if (now - (saidAt.get(one.approval_id) ?? -Infinity) < limits.approvals.noticeMs) continue
      saidAt.set(one.approval_id, now)
      await say(noticeOf(one))
    }
  }
}

/** Lists the actions that wait in the sessions of a call, and in another one, once in every interval. */
export async function* waitingApprovals(
  connection: Connection,
  signal: AbortSignal,
  other?: string,
): AsyncGenerator<ApprovalRecord[]> {
  for (;;) {
    await pause(intervalMs, undefined, { signal })
    const { approvals } = await connection.ask('listApprovals', {}, signal)
    const own = new Set([
      ...(await connection.sessions.list()).map(({ id }) => id),
      ...connection.scriptSessions,
      other,
    ])
    yield approvals.filter(({ session_id }) => own.has(session_id))
  }
}

function noticeOf({ approval_id, kind, command, created_at, expires_at }: ApprovalRecord): ApprovalNotice {
  const [from, until] = [Date.parse(created_at), Date.parse(expires_at)]
  return {
    text: `waiting for a person to approve ${kind}${command === null ? '' : ` of ${command}`} (${approval_id})`,
    waitedSecs: Math.max(0, Math.round((Date.now() - from) / 1000)),
    mostSecs: Math.round((until - from) / 1000),
  }
}
