/** Writes the choice of `bax session use`. */
import { rm } from 'node:fs/promises'
import { writeWhole } from '../core/files.ts'
import { localFiles } from '../core/local-home.ts'
import { explainDir, openStateDir } from '../core/state-dir.ts'
import type { ChosenSession } from './chosen-session.ts'
import type { Settings } from './settings.ts'

/** Remembers the session, or forgets it. */
export async function writeChoice({ stateDir }: Settings, choice: ChosenSession | undefined): Promise<void> {
  const { chosenSession } = localFiles(stateDir)
  try {
    if (choice) {
      await openStateDir(stateDir)
      await writeWhole(chosenSession, JSON.stringify(choice))
    } else await rm(chosenSession, { force: true })
  } catch (error) {
    throw explainDir(error, stateDir)
  }
}
