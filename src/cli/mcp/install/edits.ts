/** Adds a server to the text of a settings file, whose comments and other lines stay as they are. */
import { isDeepStrictEqual } from 'node:util'
import { isMapping, mappingOf } from '../../../core/text/is-mapping.ts'
import type { McpHost, ServerCommand } from './hosts.ts'

/** Name of the server. */
const serverName = 'bax'

export const entryOf = ({ entry }: McpHost, server: ServerCommand): object => entry?.(server) ?? server

/** Returns the text with the server; the given text if it has it already. @throws Error with the reason if it cannot */
export async function withServer(host: McpHost, text: string, server: ServerCommand): Promise<string> {
  const add = host.format === 'json' ? withJson : withToml
  const mark = text.startsWith('\uFEFF') ? '\uFEFF' : ''
  return mark + (await add(host, text.slice(mark.length), entryOf(host, server)))
}

/** Whether the text of a settings file has the server; false if it is invalid. */
export async function hasServer({ format, field }: McpHost, text: string): Promise<boolean> {
  const parse = format === 'json' ? (await import('jsonc-parser')).parse : (await import('smol-toml')).parse
  try {
    const settings = mappingOf(parse(text, [], { allowTrailingComma: true }))
    return mappingOf(settings[field])[serverName] !== undefined
  } catch {
    return false
  }
}

async function withJson({ field }: McpHost, text: string, entry: object): Promise<string> {
  const { applyEdits, modify, parse } = await import('jsonc-parser')
  const isEmpty = text.trim() === ''
  const errors: Parameters<typeof parse>[1] = []
  const settings: unknown = isEmpty ? {} : parse(text, errors, { allowTrailingComma: true })
  if (errors!.length > 0 || !isMapping(settings)) throw new Error('it is no valid JSON object')
  const servers = settings[field] ?? {}
  if (!isMapping(servers)) throw new Error(`${field} is no object`)
  const before = mappingOf(servers[serverName])
  // Fields such as `env` or `disabled` were chosen by a person.
  const after = { ...before, ...entry }
  if (isDeepStrictEqual(before, after)) return text
  const indent = /^( +|\t+)\S/m.exec(text)?.[1] ?? '  '
  const formattingOptions = {
    insertSpaces: !indent.startsWith('\t'),
    tabSize: indent.length,
    eol: text.includes('\r\n') ? '\r\n' : '\n',
  }
  const edited = isEmpty ? '{}' : text
  const added = applyEdits(
    edited,
    modify(edited, [field, serverName], after, { formattingOptions, getInsertionIndex: () => 0 }),
  )
  return isEmpty ? `${added}\n` : added
}

/** Tables of the server in TOML, up to the next one. */
const ownTables = new RegExp(
  `^\\[mcp_servers\\.${serverName}(?:\\.[^\\]\\n]*)?\\][^\\n]*(?:\\n(?!\\[)[^\\n]*)*\\n?`,
  'gm',
)

async function withToml({ field }: McpHost, text: string, entry: object): Promise<string> {
  const { parse, stringify } = await import('smol-toml')
  const settings = plain(parse(text))
  const servers = mappingOf(settings[field])
  const before = mappingOf(servers[serverName])
  const after = { ...before, ...entry }
  if (isDeepStrictEqual(before, after)) return text
  const others = text.replaceAll(ownTables, '').trimEnd()
  const table = stringify({ [field]: { [serverName]: after } }).trimEnd()
  const changed = `${others}${others === '' ? '' : '\n\n'}${table}\n`
  // Tables can be written in other forms, which lines at the end do not extend.
  const expected = { ...settings, [field]: { ...servers, [serverName]: after } }
  if (!isDeepStrictEqual(plain(parse(changed)), expected)) throw new Error(`${field} cannot be extended by a table`)
  return changed
}

/** Returns parsed values without the classes of the parser. */
const plain = (value: unknown) => mappingOf(JSON.parse(JSON.stringify(value)))
