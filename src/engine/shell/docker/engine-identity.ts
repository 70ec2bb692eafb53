/** Who a container belongs to: labels that a later engine of the same state folder can judge. */
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { createWhole, privateDir } from '../../../core/state/files.ts'
import { readEach, readStateText } from '../../../core/state/state-file.ts'
import { textKinds } from '../../../core/state/state-kinds.ts'

export const labels = {
  /** The same for all engines of one state folder. */
  engine: 'bax.engine',
  /** The process: `host/boot/pid/start`. */
  owner: 'bax.owner',
  session: 'bax.session',
} as const

export interface EngineIdentity {
  readonly engine: string
  readonly owner: string
}

const fileName = 'shell-engine-id'

/** The identity of this process; the state folder's part is made on first use. */
export async function engineIdentity(stateDir: string): Promise<EngineIdentity> {
  const path = join(await privateDir(stateDir), fileName)
  return { engine: readOrMake(path), owner: ownerOf(process.pid) ?? `${hostname()}//${process.pid}/` }
}

function readOrMake(path: string): string {
  // One that is damaged makes room for another; containers of the old one are left to Docker.
  readEach([path], (file) => readStateText(file, textKinds.shellEngine))
  return createWhole(path, randomBytes(12).toString('hex')).trim()
}

/** Whether the process that an owner's label names still runs. What cannot be known from here counts as running. */
export function isAlive(owner: string): boolean {
  const [host, , pid] = owner.split('/')
  if (host !== hostname()) return true
  const number = Number(pid)
  if (!Number.isInteger(number) || number <= 0) return true
  const now = ownerOf(number)
  if (now !== undefined) return now === owner
  if (process.platform === 'linux') return false
  try {
    process.kill(number, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH'
  }
}

/** The label of a process, by the boot and the time it began in, so that a pid used again is another; only on Linux. */
function ownerOf(pid: number): string | undefined {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    // A zombie has ended; only its parent has not looked yet.
    return fields[0] === 'Z' ? undefined : `${hostname()}/${boot}/${pid}/${fields[19]}`
  } catch {
    return undefined
  }
}
