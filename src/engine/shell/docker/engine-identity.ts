/** Identifies the owner of a container by labels that later engines of the same state folder can check. */
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { isRunning, processStat } from '../../../core/process/process-facts.ts'
import { createAtomic, privateDir } from '../../../core/state/files.ts'
import { readEach, readStateText } from '../../../core/state/state-file.ts'
import { textKinds } from '../../../core/state/state-kinds.ts'

export const labels = {
  /** Shared by all engines of one state folder. */
  engine: 'bax.engine',
  /** Process that created it: `host/boot/pid/start`. */
  owner: 'bax.owner',
  session: 'bax.session',
} as const

export interface EngineIdentity {
  readonly engine: string
  readonly owner: string
}

/** Returns the labels of everything that an engine creates in Docker. */
export const labelsOf = ({ engine, owner }: EngineIdentity): Record<string, string> => ({
  [labels.engine]: engine,
  [labels.owner]: owner,
})

const fileName = 'shell-engine-id'

/** Returns the identity of this process; the part stored in the state folder is created on first use. */
export async function engineIdentity(stateDir: string): Promise<EngineIdentity> {
  const path = join(await privateDir(stateDir), fileName)
  return { engine: readOrCreate(path), owner: ownerOf(process.pid) ?? `${hostname()}//${process.pid}/` }
}

function readOrCreate(path: string): string {
  // A damaged ID is replaced; containers of the old one are not removed.
  readEach([path], (file) => readStateText(file, textKinds.shellEngine))
  return createAtomic(path, randomBytes(12).toString('hex')).trim()
}

/** Returns whether the process named by an owner label is still running; true if that cannot be determined here. */
export function isAlive(owner: string): boolean {
  const [host, , pid] = owner.split('/')
  if (host !== hostname()) return true
  const number = Number(pid)
  if (!Number.isInteger(number) || number <= 0) return true
  const current = ownerOf(number)
  if (current !== undefined) return current === owner
  return process.platform !== 'linux' && isRunning(number)
}

/** Returns the owner label of a process, with boot ID and start time in case the PID is reused; only on Linux. */
function ownerOf(pid: number): string | undefined {
  const found = processStat(pid)
  // A zombie has exited; its parent has not reaped it yet.
  if (!found || found.state === 'Z') return undefined
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
    return `${hostname()}/${boot}/${pid}/${found.startTime}`
  } catch {
    return undefined
  }
}
