/** `bax session replay`: saves the replay of a session. */
import { addOutput, saveDownload } from '../../output/save-download.ts'
import { operationCommand, type OperationShape } from '../../operation-command.ts'

const shape = {
  cli: 'session replay',
  summary: 'Save what happened in a session as HTML',
  operation: 'replaySession',
  flags: addOutput,
} satisfies OperationShape

export const command = operationCommand(shape, (call) => saveDownload(call, 'replay.html'))
