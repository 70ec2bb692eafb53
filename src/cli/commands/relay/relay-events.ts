/** `bax relay events`: what happened in a browser of the relay: read, followed, exported, forgotten. */
import { resolve } from 'node:path'
import { Argument, Option } from 'commander'
import { call } from '../../../client/client.ts'
import { BaxError, exits } from '../../../core/errors/errors.ts'
import type { Param } from '../../../core/operation/params.ts'
import type { RelayEvent, RelayEventPage } from '../../../core/shapes/relay.ts'
import { type Context, operationNamed } from '../../context.ts'
import { addParam } from '../../parse/flags.ts'
import { type Home, openHome } from '../../engine/locate-engine.ts'
import { begin, type TerminalCommand } from '../../parse/invocation.ts'
import { note, print } from '../../io.ts'
import { relayEventLine } from '../../../core/events/relay-event-line.ts'
import { flagValue } from '../../parse/values.ts'
import { watch } from '../../output/watch.ts'
import { writeOutput } from '../../output/write-output.ts'

export const command: TerminalCommand = {
  async run(invocation) {
    const read = operationNamed(invocation.manifest, 'readRelayEvents')
    const params = read.params.filter(({ name }) => name !== 'id' && name !== 'format')
    const { context, typed } = begin(invocation, (command) => {
      command.addArgument(new Argument('<id>', 'relay session, by id or name'))
      for (const param of params) addParam(command, param)
      command
        .addOption(new Option('-f, --follow', 'go on with what happens, until ^C').conflicts(['har', 'clear']))
        .addOption(new Option('--har <file>', 'write the network events as an HTTP archive').conflicts('clear'))
        .addOption(new Option('--ndjson', 'print each record as it is, one a line'))
        .addOption(new Option('--clear', 'forget all events; with nothing else'))
    })
    const { flags, words } = typed
    const input = { id: words[0] as string, ...wishesOf(params, flags, context) }
    const home = openHome(context, { when: 'ask' })
    try {
      if (flags['clear']) await clear(context, home, input)
      else if (flags['har'] !== undefined) await exportHar(context, home, input, flags['har'] as string)
      else if (flags['follow']) await follow(context, home, input, flags['ndjson'] === true)
      else await readPage(context, home, input, flags['ndjson'] === true)
      return exits.done
    } finally {
      await home.transport.close()
    }
  },
}

type Input = { readonly id: string } & Record<string, unknown>

function wishesOf(params: readonly Param[], flags: Readonly<Record<string, unknown>>, { io }: Context) {
  const given = params.map((param) => [param.name, flagValue(param, flags, io.cwd)] as const)
  return Object.fromEntries(given.filter(([, value]) => value !== undefined))
}

async function clear({ io, manifest }: Context, home: Home, { id, ...others }: Input): Promise<void> {
  const [flag] = Object.keys(others)
  if (flag !== undefined) {
    throw new BaxError('invalid_request', `--clear forgets all events and takes no --${flag.replaceAll('_', '-')}`)
  }
  await call(home.transport, operationNamed(manifest, 'clearRelayEvents').http, { id }, { signal: io.signal })
}

async function exportHar({ io, manifest }: Context, home: Home, input: Input, file: string): Promise<void> {
  const { http } = operationNamed(manifest, 'readRelayEvents')
  const options = { signal: io.signal, strict: true }
  const archive = (await call(home.transport, http, { ...input, format: 'har' }, options)) as { log: { entries: [] } }
  const text = JSON.stringify(archive, null, 2)
  if (file === '-') return print(io, text)
  writeOutput(resolve(io.cwd, file), `${text}\n`)
  note(io, `${archive.log.entries.length} requests are in ${file}`)
}

async function follow({ io, manifest, settings }: Context, home: Home, input: Input, ndjson: boolean): Promise<void> {
  const asItCame = ndjson || settings.json
  // How much a page holds is no matter of following.
  const { limit: _limit, order: _order, wait_ms: _wait, ...wishes } = input
  await watch({
    transport: home.transport,
    http: operationNamed(manifest, 'followRelayEvents').http,
    input: wishes,
    io,
    onEvent: (event) => print(io, asItCame ? JSON.stringify(event) : relayEventLine(event as unknown as RelayEvent)),
  })
}

async function readPage({ io, manifest, settings }: Context, home: Home, input: Input, ndjson: boolean): Promise<void> {
  const { http } = operationNamed(manifest, 'readRelayEvents')
  const page = (await call(home.transport, http, input, { signal: io.signal, strict: true })) as RelayEventPage
  if (settings.json && !ndjson) return print(io, JSON.stringify(page))
  if (page.gap) note(io, `${page.gap.count} older records are gone (${page.gap.from} to ${page.gap.to})`)
  for (const event of page.events) print(io, ndjson ? JSON.stringify(event) : relayEventLine(event))
  if (page.more) note(io, `there are more: --since ${page.next}`)
}
