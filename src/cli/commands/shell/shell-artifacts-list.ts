/** `bax shell artifacts list`: lists the output files of commands. */
import { note, print } from '../../io.ts'
import { showAnswer } from '../../output/output.ts'
import { operationCommand, type OperationShape } from '../../operation-command.ts'

const shape = {
  cli: 'shell artifacts list',
  summary: 'List the output files of commands',
  operation: 'listArtifacts',
} satisfies OperationShape

export const command = operationCommand(shape, async ({ io, settings, operation, ask }) => {
  const list = await ask()
  if (settings.json) return print(io, JSON.stringify(list))
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
      note(io, `${artifact_id} does not contain ${name}: ${reason.replaceAll('_', ' ')}`)
  if (list.next_cursor !== null) note(io, `more artifacts: add --cursor ${list.next_cursor}`)
})
