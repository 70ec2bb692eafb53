/** `bax mcp install`: adds bax to the programs on this machine that start MCP servers. */
import { existsSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { BaxError } from '../../core/errors/errors.ts'
import { addParam } from '../../lines/flags.ts'
import { readParams } from '../../lines/typed.ts'
import { flagOf, flagValue, globalFlags, type TypedArguments } from '../../lines/values.ts'
import { type Io, note, print } from '../io.ts'
import { installationOf } from '../installation/installation.ts'
import { entryOf, withServer } from '../mcp/install/edits.ts'
import { foldersOf, mcpHosts, type ServerCommand } from '../mcp/install/hosts.ts'
import { mcpParams } from '../mcp/params.ts'
import { parseInvocation, type TerminalCommand } from '../parse/invocation.ts'
import { param } from '../serve/param.ts'

const names = Object.keys(mcpHosts)

const params = {
  host: param('host', `programs to add it to, by default those that are found: ${names.join(', ')}`, {
    type: 'string[]',
  }),
  print: param('print', 'show the entries instead of writing them', { type: 'boolean', default: false }),
}

export const command: TerminalCommand = {
  cli: 'mcp install',
  summary: 'Add bax to the programs that start MCP servers',
  example: ['bax mcp install', 'bax mcp install --host cursor,vscode --read-only', 'bax mcp install --print'],
  place: 'own process',
  async run(invocation) {
    const { context, typed } = parseInvocation(invocation, (command) => {
      for (const one of [...Object.values(params), ...Object.values(mcpParams)]) addParam(command, one)
    })
    const { io } = context
    const own = readParams(params, typed.flags, io.cwd)
    const folders = foldersOf(io)
    const { applyChange, changeOf, foundHosts } = await import('../mcp/install/install.ts')
    const hosts = [...new Set(own.host ?? foundHosts(folders))]
    const unknown = hosts.find((host) => !names.includes(host))
    if (unknown !== undefined)
      throw new BaxError('invalid_request', `--host: unknown program ${JSON.stringify(unknown)}`, {
        hint: `use some of ${names.join(', ')}`,
      })
    if (hosts.length === 0)
      throw new BaxError('invalid_request', 'no program that starts MCP servers was found', {
        hint: `choose one with --host: ${names.join(', ')}`,
      })
    const { readOptions } = await import('../../mcp/options.ts')
    readOptions(readParams(mcpParams, typed.flags, io.cwd), context.manifest)
    const server = { ...starting(io), args: [...starting(io).args, 'mcp', ...argumentsOf(typed.flags, io.cwd)] }
    const json = typed.flags['json'] === true
    if (own.print) {
      const entries = hosts.map((host) => ({
        host,
        file: mcpHosts[host]!.file(folders),
        entry: entryOf(mcpHosts[host]!, server),
      }))
      if (json) return print(io, JSON.stringify({ hosts: entries }))
      for (const { host, file } of entries)
        print(io, `${mcpHosts[host]!.title}: ${file}\n${await withServer(mcpHosts[host]!, '', server)}`)
      return
    }
    // Nothing is written if one of the files cannot be changed.
    const changes = await Promise.all(hosts.map((host) => changeOf(host, folders, server)))
    const done = []
    for (const change of changes) done.push(await applyChange(change))
    if (json) return print(io, JSON.stringify({ hosts: done }))
    for (const { host, file, status, backup } of done)
      print(io, `${mcpHosts[host]!.title}: ${status} in ${file}${backup ? ` (before: ${backup})` : ''}`)
    if (done.some(({ status }) => status === 'added')) note(io, 'restart these programs to use bax')
  },
}

/**
 * Returns the program that starts bax: the link in a checkout leads to another folder after each build, and a single file
 * unpacks each version into another one.
 */
function starting(io: Io): ServerCommand {
  const [command, ...leading] = io.host.self
  if (installationOf(io).kind === 'single file') return { command, args: [] }
  const script = leading.at(-1) && join(dirname(dirname(leading.at(-1)!)), 'bin', 'bax.js')
  return { command, args: script && existsSync(script) ? [script] : leading }
}

/** Returns the flags of this command that `bax mcp` has, too. */
function argumentsOf(flags: TypedArguments['flags'], cwd: string): string[] {
  const own = Object.values(mcpParams).map((one): [string, unknown] => [flagOf(one), flagValue(one, flags, cwd)])
  const { json: _, stateDir, ...others } = globalFlags(flags)
  const all = { ...others, stateDir: typeof stateDir === 'string' ? resolve(cwd, stateDir) : undefined }
  const shared = Object.entries(all).map(([name, value]): [string, unknown] => [
    flagOf({ name: name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`) }),
    value,
  ])
  return [...own, ...shared].flatMap(([flag, value]) => {
    if (value === undefined) return []
    if (typeof value === 'boolean') return value ? flag : flag.replace('--', '--no-')
    return `${flag}=${String(value)}`
  })
}
