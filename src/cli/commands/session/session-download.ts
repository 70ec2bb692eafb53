/** `bax session download`: downloads a file of a browser session. */
import { addOutput, saveDownload } from '../../output/save-download.ts'
import { operationCommand } from '../operation-command.ts'

const shape = { operation: 'downloadSessionFile', words: 'session download <name>', flags: addOutput } as const

export const command = operationCommand(shape, (call) => saveDownload(call, String(call.input['name'])))
