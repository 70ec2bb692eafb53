/** Parses facts of files sent by the agent. */
import type { FileFacts, WalkEntry } from '../container-files.ts'
import type { FrameReader } from './frames.ts'

const types = ['file', 'directory', 'symlink', 'fifo', 'socket', 'device'] as const

/** Names of users and groups by ID, from the files of the container. */
export interface Owners {
  readonly users: ReadonlyMap<number, string>
  readonly groups: ReadonlyMap<number, string>
}

export function readFacts(body: FrameReader, owners: Owners): FileFacts {
  const type = types[body.u8()] ?? 'device'
  const mode = body.u32()
  const uid = body.u32()
  const gid = body.u32()
  const size = Number(body.u64())
  const modifiedNs = BigInt.asIntN(64, body.u64())
  const changedNs = BigInt.asIntN(64, body.u64())
  const inode = body.u64()
  const device = body.u64()
  const target = body.bytes()
  return {
    type,
    size,
    mode,
    uid,
    gid,
    owner: owners.users.get(uid) ?? null,
    group: owners.groups.get(gid) ?? null,
    modifiedNs,
    changedNs,
    inode,
    device,
    linkTarget: type === 'symlink' ? target : null,
  }
}

export function readEntry(records: FrameReader, owners: Owners): WalkEntry {
  const path = records.bytes()
  const depth = records.u32()
  const unread = ([null, 'unreadable', 'depth'] as const)[records.u8()] ?? null
  return { path, depth, unread, cut: false, ...readFacts(records, owners) }
}

/** Parses names by ID from a file like /etc/passwd or /etc/group; the first name of an ID counts. */
export function namesByNumber(text: string): Map<number, string> {
  const names = new Map<number, string>()
  for (const line of text.split('\n')) {
    const [name, , number] = line.split(':')
    if (name && number && /^\d+$/.test(number) && !names.has(Number(number))) names.set(Number(number), name)
  }
  return names
}
