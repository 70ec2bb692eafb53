/** `bax session download`: downloads a file of a browser session. */
import { addOutput, saveDownload } from '../../output/save-download.ts'
import { operationCommand, type OperationShape } from '../../operation-command.ts'

const shape = {
  cli: 'session download <name>',
  summary: 'Download a file of a session',
  operation: 'downloadSessionFile',
  flags: addOutput,
} satisfies OperationShape

export const command = operationCommand(shape, (call) => saveDownload(call, String(call.input['name'])))
