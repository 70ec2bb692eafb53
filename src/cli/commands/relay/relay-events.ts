/** `bax relay events`: reads, follows, exports or deletes the events of a relay browser. */
import { requiredWord, textFlag } from '../../../lines/typed.ts'
import { resolve } from 'node:path'
import { Argument, Option } from 'commander'
import type { Answer, Input } from '../../../client/calls.ts'
import { BaxError } from '../../../core/errors/errors.ts'
import type { RelayEvent } from '../../../core/shapes/relay.ts'
import { operationNamed } from '../../context.ts'
import { addParam } from '../../../lines/flags.ts'
import { withEngine } from '../../engine/locate-engine.ts'
import { parseInvocation, type TerminalCommand } from '../../parse/invocation.ts'
import { type Io, note, print } from '../../io.ts'
import { relayEventLine } from '../../../core/events/event-line.ts'
import { flagFields } from '../../../lines/batch.ts'
import { watch } from '../../output/watch.ts'
import { writeOutput } from '../../output/write-output.ts'

export const command: TerminalCommand = {
  cli: 'relay events <id>',
  summary: 'Read, follow or export relay events',
  example: [
    'bax relay events laptop --limit 20 --order desc',
    'bax relay events laptop --follow --kind console,network --level error',
    'bax relay events laptop --har network.har',
  ],
  place: 'own process',
  async run(invocation) {
    const { params } = operationNamed(invocation.manifest, 'readRelayEvents')
    const filters = params.filter(({ name }) => name !== 'id' && name !== 'format')
    const { context, typed } = parseInvocation(invocation, (command) => {
      command.addArgument(new Argument('<id>', 'ID or name of a relay session'))
      for (const param of filters) addParam(command, param)
      command
        .addOption(new Option('-f, --follow', 'follow new events until ^C').conflicts(['har', 'clear']))
        .addOption(new Option('--har <file>', 'HTTP archive to write the network events to').conflicts('clear'))
        .addOption(new Option('--ndjson', 'print one JSON record per line'))
        .addOption(new Option('--clear', 'delete all events; allows no other flag'))
    })
    const { flags, words } = typed
    const { io, settings } = context
    const id = requiredWord(words, 0)
    const filter = flagFields(filters, flags, io.cwd)
    const ndjson = flags['ndjson'] === true
    return withEngine(context, { when: 'ask' }, async (engine) => {
      const read = (more: Partial<Input<'readRelayEvents'>> = {}) =>
        engine.ask('readRelayEvents', { ...filter, id, ...more }, { signal: io.signal, strict: true })
      if (flags['clear']) {
        const [flag] = Object.keys(filter)
        if (flag !== undefined) {
          throw new BaxError(
            'invalid_request',
            `--clear deletes all events and takes no --${flag.replaceAll('_', '-')}`,
          )
        }
        await engine.ask('clearRelayEvents', { id }, { signal: io.signal })
      } else if (flags['har'] !== undefined) {
        writeHar(io, await read({ format: 'har' }), textFlag(flags, 'har')!)
      } else if (flags['follow']) {
        await watch({
          engine,
          stream: 'followRelayEvents',
          // Fields of a page do not apply to the stream.
          input: { ...filter, id, limit: undefined, order: undefined, wait_ms: undefined },
          io,
          onEvent: showEvent(io, ndjson || settings.json),
        })
      } else showPage(io, await read(), { ndjson, json: settings.json })
    })
  },
}

type Events = Answer<'readRelayEvents'>

function writeHar(io: Io, archive: Events, file: string): void {
  const text = JSON.stringify(archive, null, 2)
  if (file === '-') return print(io, text)
  writeOutput(resolve(io.cwd, file), `${text}\n`)
  const { entries } = 'log' in archive ? archive.log : {}
  note(io, `saved ${Array.isArray(entries) ? entries.length : 0} requests to ${file}`)
}

const showEvent = (io: Io, asJson: boolean) => (event: RelayEvent) =>
  print(io, asJson ? JSON.stringify(event) : relayEventLine(event))

function showPage(io: Io, page: Events, { ndjson, json }: { ndjson: boolean; json: boolean }): void {
  if ((json && !ndjson) || !('events' in page)) return print(io, JSON.stringify(page))
  if (page.gap) note(io, `${page.gap.count} older records were deleted (${page.gap.from} to ${page.gap.to})`)
  page.events.forEach(showEvent(io, ndjson))
  if (page.more) note(io, `more events: add --since ${page.next}`)
}
