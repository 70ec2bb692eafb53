/** Notes beside a crawl of this machine which folder its pages go into, for `bax crawl list`. */
import { existsSync } from 'node:fs'
import { crawlOutput } from '../../../core/state/local-home.ts'
import { dirname } from 'node:path'
import { writeState } from '../../../core/state/state-file.ts'

export async function noteOutput(stateDir: string, id: string, folder: string): Promise<void> {
  const path = crawlOutput(stateDir, id)
  // A crawl that is resumed may have been forgotten.
  if (existsSync(dirname(path))) await writeState(path, { folder })
}
