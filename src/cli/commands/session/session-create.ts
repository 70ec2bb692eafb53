/** `bax session create`: creates a session and waits for its provisioning. */
import type { ProvisionRecord, SessionCreated } from '../../../core/shapes/session.ts'
import { BaxError } from '../../../core/errors/errors.ts'
import { isLocalUrl } from '../../../core/net/urls.ts'
import { textWord } from '../../../lines/typed.ts'
import { writeChoice } from '../../session/choose-session.ts'
import { createOrUndo } from '../../session/create-session.ts'
import { waitForProvision } from '../../../client/provision.ts'
import type { Context } from '../../context.ts'
import { note, print } from '../../io.ts'
import { showWarning } from '../../output/output.ts'
import { withSpinner } from '../../output/progress.ts'
import { styleFor } from '../../output/style.ts'
import { operationCommand, type OperationShape } from '../../operation-command.ts'

const shape = {
  cli: 'session create [start-url]',
  summary: 'Create a browser session',
  place: 'engine',
  operation: 'createSession',
  flags(command) {
    command.option('--use', 'make it the default session')
    command.option('--no-wait', 'print the provision instead of waiting for a browser')
  },
} satisfies OperationShape

export const command = operationCommand(shape, async (creation) => {
  const { context, io, settings, typed, engine, input } = creation
  assertNoName(textWord(typed.words, 0), input)
  const answer = await withSpinner(io, 'creating a session', async (say) => {
    const created = await createOrUndo(context, engine, input)
    const waits = created.status === 'provisioning' && typed.flags['wait'] !== false
    return waits ? waitForProvision(engine, created.provision_id!, io.signal, say) : created
  })
  if (typed.flags['use'] && answer.session_id) {
    await writeChoice(settings, { session_id: answer.session_id, home: engine.name })
  }
  await showCreated(context, answer)
})

/** @throws BaxError `invalid_request` for a single word, unless the session has a name: it is more likely one than a host */
function assertNoName(word: string | undefined, { requested_name: name }: Readonly<Record<string, unknown>>): void {
  if (word === undefined || name !== undefined || !/^[\w-]+$/.test(word) || isLocalUrl(word)) return
  throw new BaxError('invalid_request', `[start-url] is a single word: ${word}`, {
    hint: `to name the session, run "bax session create --name ${word}"; to open a host of this name, write http://${word}`,
  })
}

async function showCreated({ io, settings }: Context, answer: SessionCreated | ProvisionRecord): Promise<void> {
  if (settings.json) return print(io, JSON.stringify(answer))
  const id = answer.session_id ?? answer.provision_id!
  if (io.stdout.isTTY) {
    const { green, dim } = await styleFor(io, io.stderr)
    if (answer.session_id) note(io, `${green('✓')} session ready ${dim(`(continue with: bax do -s ${id} …)`)}`)
    else note(io, `provisioning ${dim(`(check with: bax session provision ${id})`)}`)
  }
  print(io, id)
  await showWarning(io, answer)
}
