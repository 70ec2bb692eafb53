/** `bax shell search`: matches as `path:line:column:text`, names one a line. */
import type { SearchOutput } from '../../../core/shapes/shell/files.ts'
import { exits } from '../../../core/errors/errors.ts'
import { type TerminalCommand } from '../../parse/invocation.ts'
import { note, print } from '../../io.ts'
import { onShell } from '../../shell/on-shell.ts'

export const command: TerminalCommand = {
  run: (invocation) =>
    onShell(invocation, {
      operation: 'searchShellFiles',
      async work({ context: { io, settings }, ask }) {
        const found = (await ask()) as SearchOutput
        if (settings.json) print(io, JSON.stringify(found))
        else {
          for (const { path, line, column, text } of found.matches)
            print(io, line === undefined ? path : `${path}:${line}:${column}:${text}`)
          if (found.truncated) note(io, `there are more than ${found.matches.length}: --max-results shows them`)
        }
        // As grep has it.
        return found.matches.length > 0 ? exits.done : exits.failed
      },
    }),
}
