import { z } from 'zod'
import { defineOperation } from '../../core/operation/operation.ts'
import { artifact, artifactList, artifactListInput } from '../../core/shapes/shell/artifacts.ts'
import { identifier } from '../../core/shapes/text.ts'

export const listArtifacts = defineOperation({
  summary: 'List what the commands of a shell session have left in its output mounts',
  description:
    'The oldest first; also after the session has stopped, for 24 hours. What was left there and is not kept is listed with the reason.',
  http: 'GET /shell/artifacts/by-session/{session_id}',
  scope: 'shell',
  cli: 'shell artifacts list',
  example: 'bax shell artifacts list -s sh_…',
  input: artifactListInput,
  output: artifactList,
  errors: ['shell_session_not_found'],
  run: (engine, input, call) => engine.shells.artifacts.list(input, call),
})

export const getArtifact = defineOperation({
  summary: 'Show one artifact and its files',
  http: 'GET /shell/artifacts/{artifact_id}',
  scope: 'shell',
  cli: 'shell artifacts show <artifact_id>',
  example: 'bax shell artifacts show art_…',
  show: { as: 'record' },
  input: z.object({ artifact_id: identifier.describe('Artifact id') }),
  output: artifact,
  errors: ['artifact_not_found'],
  run: (engine, { artifact_id }, call) => engine.shells.artifacts.get(artifact_id, call),
})
