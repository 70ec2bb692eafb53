/** `bax relay events`: reads, follows, exports or deletes the events of a relay browser. */
import { resolve } from 'node:path'
import { Argument, Option } from 'commander'
import { call } from '../../../client/client.ts'
import { BaxError } from '../../../core/errors/errors.ts'
import type { RelayEvent, RelayEventPage } from '../../../core/shapes/relay.ts'
import { type Context, operationNamed } from '../../context.ts'
import { addParam } from '../../parse/flags.ts'
import { type LocatedEngine, withEngine } from '../../engine/locate-engine.ts'
import { parseInvocation, type TerminalCommand } from '../../parse/invocation.ts'
import { note, print } from '../../io.ts'
import { relayEventLine } from '../../../core/events/event-line.ts'
import { flagFields } from '../../parse/batch.ts'
import { watch } from '../../output/watch.ts'
import { writeOutput } from '../../output/write-output.ts'

export const command: TerminalCommand = async (invocation) => {
  const read = operationNamed(invocation.manifest, 'readRelayEvents')
  const params = read.params.filter(({ name }) => name !== 'id' && name !== 'format')
  const { context, typed } = parseInvocation(invocation, (command) => {
    command.addArgument(new Argument('<id>', 'ID or name of a relay session'))
    for (const param of params) addParam(command, param)
    command
      .addOption(new Option('-f, --follow', 'follow new events until ^C').conflicts(['har', 'clear']))
      .addOption(new Option('--har <file>', 'HTTP archive to write the network events to').conflicts('clear'))
      .addOption(new Option('--ndjson', 'print one JSON record per line'))
      .addOption(new Option('--clear', 'delete all events; allows no other flag'))
  })
  const { flags, words } = typed
  const input = { id: words[0] as string, ...flagFields(params, flags, context.io.cwd) }
  return withEngine(context, { when: 'ask' }, async (engine) => {
    if (flags['clear']) await clear(context, engine, input)
    else if (flags['har'] !== undefined) await exportHar(context, engine, input, flags['har'] as string)
    else if (flags['follow']) await follow(context, engine, input, flags['ndjson'] === true)
    else await readPage(context, engine, input, flags['ndjson'] === true)
  })
}

type Input = { readonly id: string } & Record<string, unknown>

async function clear({ io, manifest }: Context, engine: LocatedEngine, { id, ...others }: Input): Promise<void> {
  const [flag] = Object.keys(others)
  if (flag !== undefined) {
    throw new BaxError('invalid_request', `--clear deletes all events and takes no --${flag.replaceAll('_', '-')}`)
  }
  await call(engine.transport, operationNamed(manifest, 'clearRelayEvents').http, { id }, { signal: io.signal })
}

async function exportHar({ io, manifest }: Context, engine: LocatedEngine, input: Input, file: string): Promise<void> {
  const { http } = operationNamed(manifest, 'readRelayEvents')
  const options = { signal: io.signal, strict: true }
  const archive = (await call(engine.transport, http, { ...input, format: 'har' }, options)) as { log: { entries: [] } }
  const text = JSON.stringify(archive, null, 2)
  if (file === '-') return print(io, text)
  writeOutput(resolve(io.cwd, file), `${text}\n`)
  note(io, `saved ${archive.log.entries.length} requests to ${file}`)
}

async function follow(
  { io, manifest, settings }: Context,
  engine: LocatedEngine,
  input: Input,
  ndjson: boolean,
): Promise<void> {
  const asJson = ndjson || settings.json
  // Fields of a page do not apply to the stream.
  const { limit: _limit, order: _order, wait_ms: _wait, ...filter } = input
  await watch<RelayEvent>({
    transport: engine.transport,
    http: operationNamed(manifest, 'followRelayEvents').http,
    input: filter,
    io,
    onEvent: (event) => print(io, asJson ? JSON.stringify(event) : relayEventLine(event)),
  })
}

async function readPage(
  { io, manifest, settings }: Context,
  engine: LocatedEngine,
  input: Input,
  ndjson: boolean,
): Promise<void> {
  const { http } = operationNamed(manifest, 'readRelayEvents')
  const page = (await call(engine.transport, http, input, { signal: io.signal, strict: true })) as RelayEventPage
  if (settings.json && !ndjson) return print(io, JSON.stringify(page))
  if (page.gap) note(io, `${page.gap.count} older records were deleted (${page.gap.from} to ${page.gap.to})`)
  for (const event of page.events) print(io, ndjson ? JSON.stringify(event) : relayEventLine(event))
  if (page.more) note(io, `more events: add --since ${page.next}`)
}
