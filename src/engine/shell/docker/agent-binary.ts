/** Loads the compiled agent for an architecture. */
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { BaxError } from '../../../core/errors/errors.ts'

export interface AgentBinary {
  readonly bytes: Buffer
  /** First 16 hexadecimal digits of its SHA-256. */
  readonly hash: string
}

/** Yields the folders to search: beside the bundle, or the build output of a checkout. */
function* folders(): Generator<string> {
  yield join(import.meta.dirname, 'agent')
  for (let at = import.meta.dirname, above = dirname(at); at !== above; at = above, above = dirname(at))
    yield join(above, 'dist', 'agent')
}

/** @throws BaxError `feature_disabled` in a source checkout without a compiled agent. */
export async function agentBinary(architecture: 'x64' | 'arm64'): Promise<AgentBinary> {
  for (const folder of folders()) {
    try {
      const bytes = await readFile(join(folder, `agent-${architecture}`))
      return { bytes, hash: createHash('sha256').update(bytes).digest('hex').slice(0, 16) }
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    }
  }
  throw new BaxError('feature_disabled', `the agent of shell sessions is not compiled for ${architecture}`, {
    hint: 'run `npm run setup` in the checkout; it needs a C compiler',
  })
}
