/** Raw transfers of files, and artifacts. */
import { z } from 'zod'
import { writeOutput } from '../../core/shapes/shell/files.ts'
import { rawFile, uploadInput } from '../../core/shapes/shell/transfers.ts'
import { defineDownload, defineOperation, defineUpload } from '../../core/operation/operation.ts'
import { onObject, onShell } from '../../core/operation/placement.ts'
import { identifier } from '../../core/shapes/fields.ts'
import { limits } from '../../core/limits/limits.ts'
import { artifact, artifactList, artifactListInput } from '../../core/shapes/shell/artifacts.ts'
import { samples } from '../samples.ts'

const onArtifact = onObject('artifact_id', ['artifact'])

const denied = [
  'session_closed',
  'conflict',
  'file_not_found',
  'not_a_directory',
  'is_a_directory',
  'not_a_file',
  'permission_denied',
  'session_lost',
] as const

export const downloadShellFile = defineDownload({
  summary: 'Download a file of a shell session',
  http: 'GET /shell/fs/raw',
  scope: 'shell',
  runs: onShell,
  cli: 'shell download <path>',
  example: ['bax shell download -s data /output/plot.png', 'bax shell download -s data /output/plot.png -o plots/'],
  sample: { ...samples.shell, path: '/output/plot.png' },
  input: rawFile,
  errors: [...denied, 'range_not_satisfiable'],
  mediaType: 'application/octet-stream',
  open: (engine, input, call) => engine.shells.files.open(input, call),
})

export const uploadShellFile = defineUpload({
  summary: 'Upload a file to a shell session',
  http: 'PUT /shell/fs/raw',
  scope: 'shell',
  runs: onShell,
  cli: 'shell upload <file> [path]',
  example: ['bax shell upload -s data rows.csv', 'bax shell upload -s data rows.csv input/ --no-overwrite'],
  sample: { ...samples.shell, path: 'data.csv', mode: '0644' },
  input: uploadInput,
  output: writeOutput,
  errors: [...denied, 'already_exists', 'no_space'],
  receive: (engine, input, body, call) => engine.shells.files.receive(input, body, call),
})

export const downloadArtifact = defineDownload({
  summary: 'Download a file of an artifact',
  description: "Selected by its exact name in the artifact's file list; later captures do not change it.",
  http: 'GET /shell/artifacts/{artifact_id}/files/{file_name*}',
  scope: 'shell',
  runs: onArtifact,
  cli: 'shell artifacts download <artifact_id> [file_name]',
  example: ['bax shell artifacts download art_… plot.png', 'bax shell artifacts download sh_… -o results'],
  sample: { ...samples.artifact, file_name: 'plot.png' },
  input: z.object({
    artifact_id: identifier.describe('Artifact ID'),
    file_name: z
      .string()
      .min(1)
      .max(3 * limits.files.pathBytes)
      .describe('Name of the file as listed in the artifact, percent-encoded'),
  }),
  errors: ['range_not_satisfiable'],
  mediaType: '*/*',
  open: (engine, { artifact_id, file_name }, call) => engine.shells.artifacts.open(artifact_id, file_name, call),
})

export const listArtifacts = defineOperation({
  summary: 'List the artifacts of a shell session',
  description:
    'Files that commands wrote to the output mounts, oldest first; available for 24 hours after the session has stopped. Files that were not captured are listed with the reason.',
  http: 'GET /shell/artifacts/by-session/{session_id}',
  scope: 'shell',
  runs: onShell,
  cli: 'shell artifacts list',
  example: ['bax shell artifacts list -s data', 'bax shell artifacts list -s data --json'],
  // Artifacts outlive their session and its engine.
  engine: 'any',
  sample: samples.shell,
  input: artifactListInput,
  output: artifactList,
  run: (engine, input, call) => engine.shells.artifacts.list(input, call),
})

export const getArtifact = defineOperation({
  summary: 'Show one artifact and its files',
  http: 'GET /shell/artifacts/{artifact_id}',
  scope: 'shell',
  runs: onArtifact,
  cli: 'shell artifacts show <artifact_id>',
  example: ['bax shell artifacts show art_…', 'bax shell artifacts show art_… --json'],
  show: { as: 'record' },
  sample: samples.artifact,
  input: z.object({ artifact_id: identifier.describe('Artifact ID') }),
  output: artifact,
  run: (engine, { artifact_id }, call) => engine.shells.artifacts.get(artifact_id, call),
})
