/** Converts what the scripts return. */
import type { BoundKind, BoundObject, SlotKind, WorkerIdentity, WorkerRecord } from '../../core/fleet.ts'

/** Parses the hash of a worker; `nowMs` is the time of Redis. */
export function workerOf(id: string, fields: Readonly<Record<string, string>>, nowMs: number): WorkerRecord {
  const number = (name: string) => Number(fields[name] ?? 0)
  const used = (kind: SlotKind) => number(`used:${kind}`)
  return {
    ...(JSON.parse(fields['info']!) as WorkerIdentity),
    id,
    state: fields['state'] === 'ready' ? 'ready' : 'draining',
    used: { session: used('session'), shell: used('shell'), relay: used('relay') },
    busy_pages: number('busy'),
    memory_bytes: number('memory'),
    seen_at: isoOf(number('seen')),
    age_ms: Math.max(0, nowMs - number('seen')),
    skew_ms: number('skew'),
  }
}

/** Row of the script `find`. */
export type Row = [string, BoundKind, string, string | null, string, string, string | null, string | null]

export interface Found {
  readonly object: BoundObject
  readonly owner: string | null
  readonly name: string | null
  readonly isLive: boolean
}

export function objectOf([id, kind, owner, name, worker, url, lost, ended]: Row): Found {
  const object = {
    id,
    kind,
    owner: ownerOf(owner),
    name,
    worker: { id: worker, url },
    ...(lost !== null && { lost_at: isoOf(Number(lost)) }),
  }
  return { object, owner: object.owner, name, isLive: lost === null && ended === null }
}

/** Owners in Redis are empty where no keys are in use. */
export const storedOwner = (owner: string | null): string => owner ?? ''
const ownerOf = (stored: string): string | null => stored || null

export const isoOf = (ms: number): string => new Date(ms).toISOString()
