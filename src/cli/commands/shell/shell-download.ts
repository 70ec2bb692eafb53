/** `bax shell download`: downloads a file of a session. */
import { addOutput, saveDownload } from '../../output/save-download.ts'
import { operationCommand, type OperationShape } from '../../operation-command.ts'

const shape = {
  cli: 'shell download <path>',
  summary: 'Download a file of a shell session',
  operation: 'downloadShellFile',
  flags: addOutput,
} satisfies OperationShape

export const command = operationCommand(shape, (call) =>
  saveDownload(call, String(call.input['path'] ?? Buffer.from(String(call.input['path_b64']), 'base64'))),
)
