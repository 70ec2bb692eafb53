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

/** Reports dialogs that no command has answered; `advice` says how to accept one. */
export function dialogNotes(
  { dialogs = [], dialogs_omitted: omitted }: Pick<CommandResult, 'dialogs' | 'dialogs_omitted'>,
  advice: string,
): string[] {
  const notes = dialogs
    .filter(({ answer, answered_by }) => answered_by !== 'answer_dialog' && answer !== 'open')
    .map(({ type, message, answer, answered_by }) => {
      const isDefault = answer === 'dismissed' && answered_by === 'setting'
      return `${answer} ${type} ${JSON.stringify(message)}${isDefault ? `; ${advice}` : ''}`
    })
  return omitted === undefined ? notes : [...notes, `${omitted} more dialogs`]
}
