/** Notes about what happened during a command beside its result: downloads, several matches, dialogs. */
import type { CommandResult } from '../../core/shapes/commands.ts'

/** `advice` says how to get a downloaded file. */
export const downloadNotes = ({ downloads = [] }: CommandResult, advice: (name: string) => string): string[] =>
  downloads.map(({ name, state, size, error }) => {
    if (state === 'completed') return `downloaded ${name} (${size} bytes)${advice(name)}`
    return state === 'failed' ? `download of ${name} failed: ${error}` : `${name} is still being downloaded`
  })

export const matchesNotes = ({ matches, used_match = 'first visible' }: CommandResult, selector: string): string[] =>
  matches === undefined ? [] : [`${selector} matches ${matches} elements: the ${used_match} one is used`]

type Dialogs = Pick<CommandResult, 'dialogs' | 'dialogs_omitted'>
type Dialog = NonNullable<Dialogs['dialogs']>[number]

const isDefault = ({ answer, answered_by }: Dialog): boolean => answer === 'dismissed' && answered_by === 'setting'

/** Returns whether a dialog was dismissed because no command has answered it. */
export const hasDismissed = ({ dialogs = [] }: Dialogs): boolean => dialogs.some(isDefault)

/** Reports dialogs that no command has answered; `advice` says how to accept one. */
export function dialogNotes({ dialogs = [], dialogs_omitted: omitted }: Dialogs, advice?: string): string[] {
  const notes = dialogs
    .filter(({ answer, answered_by }) => answered_by !== 'answer_dialog' && answer !== 'open')
    .map((dialog) => {
      const { type, message, answer } = dialog
      return `${answer} ${type} ${JSON.stringify(message)}${advice && isDefault(dialog) ? `; ${advice}` : ''}`
    })
  return omitted === undefined ? notes : [...notes, `${omitted} more dialogs`]
}
