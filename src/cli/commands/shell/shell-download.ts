/** `bax shell download`: downloads a file of a session. */
import { addOutput, saveDownload } from '../../output/save-download.ts'
import { operationCommand } from '../operation-command.ts'

const shape = { operation: 'downloadShellFile', words: 'shell download <path>', flags: addOutput } as const

export const command = operationCommand(shape, (call) =>
  saveDownload(call, String(call.input['path'] ?? Buffer.from(String(call.input['path_b64']), 'base64'))),
)
