/** Saves the choice of `bax session use`. */
import { rm } from 'node:fs/promises'
import { localFiles } from '../../core/state/local-files.ts'
import { explainDir, openStateDir } from '../../core/state/state-dir.ts'
import { writeState } from '../../core/state/state-file.ts'
import type { ChosenSession } from './chosen-session.ts'
import type { Settings } from '../../core/config/settings.ts'

/** Saves the chosen session, or deletes the choice. */
export async function writeChoice({ stateDir }: Settings, choice: ChosenSession | undefined): Promise<void> {
  const { chosenSession } = localFiles(stateDir)
  try {
    if (choice) {
      await openStateDir(stateDir)
      await writeState(chosenSession, choice)
    } else await rm(chosenSession, { force: true })
  } catch (error) {
    throw explainDir(error, stateDir)
  }
}
