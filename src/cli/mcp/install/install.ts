/** Adds bax to the settings of programs that start MCP servers. */
import { existsSync } from 'node:fs'
import { chmod, copyFile, readFile, realpath, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { BaxError } from '../../../core/errors/errors.ts'
import { systemCode, systemReason } from '../../../core/errors/system-errors.ts'
import { writeAtomic } from '../../../core/state/files.ts'
import { cannotWrite } from '../../output/write-output.ts'
import { withServer } from './edits.ts'
import { backupOf, type McpHost, mcpHosts, type ServerCommand, type UserFolders } from './hosts.ts'

interface Change {
  /** Name of the host in `--host`. */
  readonly host: string
  readonly file: string
  readonly before: string
  readonly after: string
}

export interface Installed {
  readonly host: string
  readonly file: string
  readonly status: 'added' | 'unchanged'
  /** Copy of the file as it was. */
  readonly backup?: string
}

/** Returns the names of the hosts that a user has. */
export const foundHosts = (folders: UserFolders): string[] =>
  Object.entries(mcpHosts)
    .filter(([, host]) => [host.file(folders), signOf(host, folders)].some((path) => existsSync(path)))
    .map(([name]) => name)

const signOf = ({ file, sign }: McpHost, folders: UserFolders): string => sign?.(folders) ?? dirname(file(folders))

/** Returns the change of a host's file, without making it. @throws BaxError `invalid_request` if it is not possible */
export async function changeOf(host: string, folders: UserFolders, server: ServerCommand): Promise<Change> {
  const file = mcpHosts[host]!.file(folders)
  const before = await readFile(file, 'utf8').catch((cause: unknown) => {
    if (systemCode(cause) === 'ENOENT') return ''
    throw new BaxError('invalid_request', `cannot read ${file}: ${systemReason(cause)}`, { cause })
  })
  const after = await withServer(mcpHosts[host]!, before, server).catch((cause: Error) => {
    const hint = 'mend the file, or add what `bax mcp install --print` shows yourself'
    throw new BaxError('invalid_request', `bax cannot be added to ${file}: ${cause.message}`, { hint, cause })
  })
  return { host, file, before, after }
}

/** Makes a change, after a copy of the file. */
export async function applyChange({ host, file, before, after }: Change): Promise<Installed> {
  if (before === after) return { host, file, status: 'unchanged' }
  try {
    if (!existsSync(file)) {
      await writeAtomic(file, after)
      return { host, file, status: 'added' }
    }
    // Many people keep their settings in another folder, with links to it.
    const actual = await realpath(file)
    const backup = backupOf(file)
    await copyFile(actual, backup)
    const { mode } = await stat(actual)
    await writeAtomic(actual, after)
    await chmod(actual, mode)
    return { host, file, status: 'added', backup }
  } catch (cause) {
    throw cannotWrite(file, cause)
  }
}
