/** `bax uninstall`: removes what bax has created for a user, after a question, and prints how to remove the program. */
import { BaxError } from '../../../core/errors/errors.ts'
import { engineToCall } from '../../../core/state/engine-socket.ts'
import type { Context } from '../../context.ts'
import { type Io, note, print } from '../../io.ts'
import { stopEngine } from '../../engine/stop-engine.ts'
import type { OwnFile } from '../../installation/own-files.ts'
import { parseInvocation, type TerminalCommand } from '../../parse/invocation.ts'

export const command: TerminalCommand = {
  cli: 'uninstall',
  summary: 'Remove the engine, browsers, caches and data',
  example: ['bax uninstall', 'bax uninstall --yes', 'bax uninstall --keep-data'],
  place: 'own process',
  async run(invocation) {
    const { context, typed } = parseInvocation(invocation, (command) => {
      command.option('-y, --yes', 'do not ask')
      command.option('--keep-data', 'keep sessions, profiles, keys, crawls and settings')
    })
    const { io, settings } = context
    const [{ installationOf }, { assertUnused, filesElsewhere, filesWithServer, ownFiles, removeFiles }] =
      await Promise.all([import('../../installation/installation.ts'), import('../../installation/own-files.ts')])
    const { server: _, ...local } = settings
    const here: Context = { ...context, settings: { ...local, embedded: false } }
    const files = await ownFiles(here, typed.flags['keepData'] === true)
    const engine = engineToCall(settings.stateDir, io.host.uid)
    const kept = await filesWithServer(here)
    // A single file has unpacked this program into its cache.
    const { remove, path } = installationOf(io)
    const lines = [
      ...(engine ? [`the local engine (process ${engine.pid}) and its sessions`] : []),
      ...files.map(lineOf),
    ]
    let left: readonly string[] = []
    if (lines.length === 0) note(io, 'there is nothing to remove')
    else {
      note(io, `to remove:\n${lines.map((line) => `  ${line}`).join('\n')}`)
      if (typed.flags['yes'] !== true && !(await isConfirmed(io))) {
        note(io, 'nothing was removed')
        return 1
      }
      await stopIfRunning(here)
      await assertUnused(here)
      left = await removeFiles(files)
    }
    left = [...left, ...filesElsewhere(here)]
    if (settings.json) {
      const removed = files.map(({ title, path, bytes }) => ({ title, path, bytes }))
      const facts = { removed, engine_stopped: engine !== undefined, servers: kept, left, commands: remove }
      return print(io, JSON.stringify(facts))
    }
    for (const { path: own, names } of files) print(io, `removed ${names ? "bax's files in " : ''}${own}`)
    for (const file of left) note(io, `left: ${file}`)
    for (const file of kept) note(io, `left: the MCP server "bax" in ${file}`)
    note(io, `left: images of shell sessions, if there are any; remove them with "${removeImages}"`)
    note(io, `left: the program, ${path}${remove.length > 0 ? `; remove it with "${remove.join('; ')}"` : ''}`)
  },
}

/** Other users of the machine may use the images, too. */
const removeImages = 'docker image rm $(docker image ls --quiet bax-shell) $(docker image ls --quiet bax-agent)'

const lineOf = ({ title, path, bytes, names }: OwnFile): string =>
  `${path}: ${title}, ${(bytes / 1e6).toFixed(1)} MB${names ? "; only bax's files" : ''}`

async function isConfirmed(io: Io): Promise<boolean> {
  if (!io.stdin.isTTY)
    throw new BaxError('invalid_request', 'the answer cannot be asked: the input is no terminal', {
      hint: 'add --yes to remove it',
    })
  io.stderr.write('Remove all of it? [y/N] ')
  let answer = ''
  for await (const chunk of io.stdin) {
    answer += String(chunk)
    if (answer.includes('\n') || io.signal.aborted) break
  }
  io.signal.throwIfAborted()
  return /^y(?:es)?$/i.test(answer.trim())
}

async function stopIfRunning(context: Context): Promise<void> {
  try {
    await stopEngine(context)
  } catch (error) {
    // An engine that was killed leaves its state file behind.
    if (!(error instanceof BaxError && error.code === 'engine_unreachable')) throw error
  }
}
