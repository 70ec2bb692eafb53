/** `bax session script`: writes what was done to a session as a script. */
import { resolve } from 'node:path'
import { BaxError } from '../../../core/errors/errors.ts'
import type { SessionScript } from '../../../core/shapes/recording.ts'
import { leftOutText } from '../../../core/text/script/left-out.ts'
import { textFlag } from '../../../lines/typed.ts'
import { note, print } from '../../io.ts'
import { type OperationCall, operationCommand, type OperationShape } from '../../operation-command.ts'
import { writeOutput } from '../../output/write-output.ts'

const shape = {
  cli: 'session script [session-id]',
  summary: 'Write what was done to a session as a script',
  example: ['bax session script -o flow.yaml', 'bax session script shop --format playwright -o shop.spec.ts'],
  place: 'own process',
  operation: 'getSessionScript',
  flags: (command) =>
    void command
      .option('-o, --output <file>', 'file to write to; - for standard output')
      .option('--verify', 'replay the script in a new session, and fail when a step does not hold'),
} satisfies OperationShape

export const command = operationCommand(shape, async (call) => {
  const { io, settings, typed, ask } = call
  const written = await ask()
  const file = textFlag(typed.flags, 'output') ?? '-'
  if (file !== '-') writeOutput(resolve(io.cwd, file), written.script)
  if (settings.json) print(io, JSON.stringify(written))
  else if (file === '-') io.stdout.write(written.script)
  else print(io, file)
  describeScript(io, written)
  return typed.flags['verify'] === true ? verify(call, written) : undefined
})

/** Prints what a reader of the script does not see. */
function describeScript(io: OperationCall<'getSessionScript'>['io'], { left_out, secrets }: SessionScript): void {
  if (left_out.length > 0) note(io, `left out: ${leftOutText(left_out)}; --json lists them`)
  if (secrets.length > 0) note(io, `set ${secrets.join(', ')} to run it`)
}

/** Replays the script in a new session; returns the exit code. */
async function verify({ ask, context, engine, input, io }: OperationCall<'getSessionScript'>, written: SessionScript) {
  const missing = written.secrets.filter((name) => !io.env[name])
  if (missing.length > 0)
    throw new BaxError('invalid_request', `cannot verify the script: ${missing.join(', ')} is not set`, {
      hint: 'set the environment variables of the secrets',
    })
  const { script } = input['format'] === 'playwright' ? await ask({ format: 'yaml' }) : written
  const { replay } = await import('../../run/run-loaded.ts')
  const { failure, obstacle, passed } = await replay(script, context, engine)
  if (!failure && obstacle === undefined && passed === written.steps) {
    note(io, `verified: ${passed} steps can be replayed`)
    return 0
  }
  const reason = failure ? `${failure.message} (${failure.code})` : (obstacle ?? 'interrupted')
  note(io, `warning: step ${passed + 1} does not hold when it is replayed: ${reason}`)
  return 1
}
