import { z } from 'zod'
import { defineOperation } from '../../core/operation/operation.ts'
import { artifact, artifactList, artifactListInput } from '../../core/shapes/shell/artifacts.ts'
import { identifier } from '../../core/shapes/fields.ts'

export const listArtifacts = defineOperation({
  summary: 'List the artifacts of a shell session',
  description:
    'Files that commands wrote to the output mounts, oldest first; available for 24 hours after the session has stopped. Files that were not captured are listed with the reason.',
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
  input: z.object({ artifact_id: identifier.describe('Artifact ID') }),
  output: artifact,
  errors: ['artifact_not_found'],
  run: (engine, { artifact_id }, call) => engine.shells.artifacts.get(artifact_id, call),
})
