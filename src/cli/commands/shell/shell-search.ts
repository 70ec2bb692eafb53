/** `bax shell search`: prints matches as `path:line:column:text`, or as paths. */
import { exits } from '../../../core/errors/errors.ts'
import { note, print } from '../../io.ts'
import { operationCommand, type OperationShape } from '../../operation-command.ts'

const shape = {
  cli: 'shell search [path]',
  summary: 'Search the files of a shell session',
  operation: 'searchShellFiles',
} satisfies OperationShape

export const command = operationCommand(shape, async ({ io, settings, ask }) => {
  const found = await ask()
  if (settings.json) print(io, JSON.stringify(found))
  else {
    for (const { path, line, column, text } of found.matches)
      print(io, line === undefined ? path : `${path}:${line}:${column}:${text}`)
    if (found.truncated) note(io, `more than ${found.matches.length} matches: raise --max-results`)
  }
  // Like grep.
  return found.matches.length > 0 ? exits.done : exits.failed
})
