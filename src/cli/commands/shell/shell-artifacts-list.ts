/** `bax shell artifacts list`: a line for every file that commands have left. */
import type { ArtifactList } from '../../../core/shapes/shell/artifacts.ts'
import { type TerminalCommand } from '../../parse/invocation.ts'
import { note, print } from '../../io.ts'
import { showAnswer } from '../../output/output.ts'
import { onShell } from '../../shell/on-shell.ts'

export const command: TerminalCommand = {
  run: (invocation) =>
    onShell(invocation, {
      operation: 'listArtifacts',
      async work({ context: { io, settings }, operation, ask }) {
        const list = (await ask()) as ArtifactList
        if (settings.json) {
          print(io, JSON.stringify(list))
          return 0
        }
        const files = list.artifacts.flatMap(({ artifact_id, created_at, files }) =>
          files.map((file) => ({ artifact_id, created_at, ...file })),
        )
        const columns = ['artifact_id', 'name', 'size', 'content_type', 'change', 'created_at']
        await showAnswer(
          io,
          { ...operation, show: { as: 'table', items: 'artifacts', columns } },
          { artifacts: files },
          false,
        )
        for (const { artifact_id, skipped } of list.artifacts)
          for (const { name, reason } of skipped)
            note(io, `${artifact_id} has not ${name}: ${reason.replaceAll('_', ' ')}`)
        if (list.next_cursor !== null) note(io, `there are more: --cursor ${list.next_cursor}`)
        return 0
      },
    }),
}
