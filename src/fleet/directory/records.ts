/** Converts what the scripts return. */
import {
  type BoundKind,
  type BoundObject,
  type SlotKind,
  slotKinds,
  type WorkerIdentity,
  type WorkerRecord,
} from '../../core/fleet.ts'

/** Parses the hash of a worker; `nowMs` is the time of Redis. */
export function workerOf(id: string, fields: Readonly<Record<string, string>>, nowMs: number): WorkerRecord {
  const number = (name: string) => Number(fields[name] ?? 0)
  const used = (kind: SlotKind) => number(`used:${kind}`)
  const info = JSON.parse(fields['info']!) as WorkerIdentity
  const labels = info.labels.filter((label) => fields['labels']!.split(',').includes(label))
  const broken = JSON.parse(fields['broken'] ?? '{}') as WorkerRecord['broken']
  const slots = (kind: SlotKind) => (slotKinds[kind] in broken ? 0 : info.slots[kind])
  return {
    ...info,
    id,
    labels,
    broken,
    slots: { session: slots('session'), shell: slots('shell'), relay: slots('relay') },
    pages: 'render' in broken ? 0 : info.pages,
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
