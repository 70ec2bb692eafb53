/** Files of browser sessions: uploads, downloads, and what commands save. */
import { z } from 'zod'
import { defineDownload, defineOperation, defineUpload } from '../../core/operation/operation.ts'
import { onAnySession } from '../../core/operation/placement.ts'
import { knownFile, newFile, newFolder, sessionFile, sessionFileList } from '../../core/shapes/session-files.ts'
import { sessionId } from './sessions.ts'
import { samples } from '../samples.ts'

const errors = ['session_closed', 'unsupported'] as const

export const listSessionFiles = defineOperation({
  summary: 'List the files of a session',
  description: 'Uploads, downloads, and what commands saved; they are removed with the session.',
  http: 'GET /sessions/{session_id}/files',
  scope: 'browser',
  runs: onAnySession,
  cli: 'session files',
  example: ['bax session files', 'bax session files -s shop --json'],
  show: { as: 'table', items: 'files', columns: ['name', 'size', 'source', 'created_at'] },
  sample: samples.session,
  input: z.object({ session_id: sessionId }),
  output: sessionFileList,
  errors,
  run: (engine, { session_id }, call) => engine.files.list(session_id, call),
})

export const downloadSessionFile = defineDownload({
  summary: 'Download a file of a session',
  http: 'GET /sessions/{session_id}/files/{name}',
  scope: 'browser',
  runs: onAnySession,
  cli: 'session download <name>',
  example: ['bax session download report.pdf', 'bax session download report.pdf -o reports/may.pdf'],
  sample: samples.sessionFile,
  input: z.object({ session_id: sessionId, name: knownFile.describe('Name of the file as listed') }),
  errors: [...errors, 'file_not_found', 'range_not_satisfiable'],
  mediaType: '*/*',
  open: (engine, { session_id, name }, call) => engine.files.open(session_id, name, call),
})

export const uploadSessionFile = defineUpload({
  summary: 'Upload a file to a session',
  description: 'For `upload_files` and `type_text`, which accept the names of these files.',
  http: 'PUT /sessions/{session_id}/files/{name}',
  scope: 'browser',
  runs: onAnySession,
  cli: 'session upload <file> [name]',
  example: ['bax session upload photo.png', 'bax session upload photo.png avatar.png -s shop'],
  sample: samples.sessionFile,
  input: z.object({
    session_id: sessionId,
    name: newFile.describe('Name of the file, without folders'),
    folder: newFolder
      .optional()
      .describe('Folder of the file, such as photos/2026, for uploads of folders: the file is then photos/2026/NAME'),
    overwrite: z
      .boolean()
      .default(true)
      .describe('Replace a file of this name; if false, the new file gets a number, unless both have the same content'),
  }),
  output: sessionFile,
  errors: [...errors, 'no_space'],
  receive: (engine, input, body, call) => engine.files.receive(input, body, call),
})

export const deleteSessionFile = defineOperation({
  summary: 'Delete a file of a session',
  http: 'DELETE /sessions/{session_id}/files/{name}',
  scope: 'browser',
  runs: onAnySession,
  cli: 'session remove-file <name>',
  example: ['bax session remove-file report.pdf', 'bax session remove-file report.pdf -s shop'],
  sample: samples.sessionFile,
  input: z.object({ session_id: sessionId, name: knownFile.describe('Name of the file as listed') }),
  output: null,
  errors: [...errors, 'file_not_found'],
  run: (engine, { session_id, name }, call) => engine.files.remove(session_id, name, call),
})
