/** Reads the Debian package sources of this machine: mirrors that are known to be reachable and trusted. */
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'

export interface AptSource {
  readonly uri: string
  readonly suite: string
  readonly components: readonly string[]
  /** File with its signing keys; undefined for the default of the system. */
  readonly keyring: string | undefined
  /** Whether the administrator has disabled signature checks. */
  readonly trusted: boolean
}

/** Returns the sources of a folder like /etc/apt, in the order of apt. */
export async function readAptSources(folder = '/etc/apt'): Promise<AptSource[]> {
  const parts = join(folder, 'sources.list.d')
  const names = (await unlessAbsent(readdir(parts)))?.toSorted() ?? []
  const files = [join(folder, 'sources.list'), ...names.map((name) => join(parts, name))]
  const sources = await Promise.all(
    files.map(async (file) => {
      const text = (await unlessAbsent(readFile(file, 'utf8'))) ?? ''
      if (file.endsWith('.sources')) return parseStanzas(text)
      return file.endsWith('.list') ? parseLines(text) : []
    }),
  )
  return sources.flat()
}

/** Parses one source per line: `deb [signed-by=…] uri suite component…`. */
export function parseLines(text: string): AptSource[] {
  return text.split('\n').flatMap((line) => {
    const found = /^\s*deb\s+(?:\[([^\]]*)\]\s+)?(\S+)\s+(\S+)\s*([^#]*)/.exec(line)
    if (!found) return []
    const [, options = '', uri, suite, components] = found
    const option = (name: string) => new RegExp(`(?:^|\\s)${name}=(\\S+)`).exec(options)?.[1]
    return [
      {
        uri: uri!,
        suite: suite!,
        components: words(components!),
        keyring: keyFile(option('signed-by')),
        trusted: option('trusted') === 'yes',
      },
    ]
  })
}

/** Parses deb822: stanzas of fields, separated by empty lines. */
export function parseStanzas(text: string): AptSource[] {
  return text.split(/\n\s*\n/).flatMap((stanza) => {
    const fields = new Map<string, string>()
    let last = ''
    for (const line of stanza.split('\n')) {
      if (line.startsWith('#')) continue
      const field = /^([\w-]+):\s*(.*)$/.exec(line)
      if (field) fields.set((last = field[1]!.toLowerCase()), field[2]!)
      else if (/^\s/.test(line) && last) fields.set(last, `${fields.get(last)} ${line.trim()}`)
    }
    const list = (name: string) => words(fields.get(name) ?? '')
    if (!list('types').includes('deb') || fields.get('enabled')?.trim() === 'no') return []
    const rest = {
      components: list('components'),
      keyring: keyFile(fields.get('signed-by')?.trim()),
      trusted: fields.get('trusted')?.trim() === 'yes',
    }
    return list('uris').flatMap((uri) => list('suites').map((suite) => ({ uri, suite, ...rest })))
  })
}

const words = (text: string) => text.split(/\s+/).filter(Boolean)

/** Returns the path of a key file; keys embedded in the source are ignored. */
const keyFile = (value: string | undefined) => (value?.startsWith('/') ? value : undefined)

async function unlessAbsent<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}
