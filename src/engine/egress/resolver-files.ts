/** Parses the files that configure name resolution: hosts and resolv.conf. */
import type { LookupAddress } from 'node:dns'
import { readFile, stat } from 'node:fs/promises'
import { isIP } from 'node:net'

/** Search domains, and the number of dots from which a name is first looked up without them. */
export interface SearchRules {
  readonly domains: readonly string[]
  readonly ndots: number
}

/** Returns the addresses in a hosts file, by name. */
export function hostsIn(text: string): ReadonlyMap<string, LookupAddress[]> {
  const found = new Map<string, LookupAddress[]>()
  for (const [address = '', ...names] of linesOf(text)) {
    const family = isIP(address)
    if (family === 0) continue
    for (const name of names) {
      const key = name.toLowerCase()
      found.set(key, [...(found.get(key) ?? []), { address, family }])
    }
  }
  return found
}

/** Returns the search rules in a resolv.conf; of several search lists, the last one counts. */
export function searchRulesIn(text: string): SearchRules {
  let domains: string[] = []
  let ndots = 1
  for (const [keyword, ...values] of linesOf(text)) {
    if (keyword === 'search') domains = values
    if (keyword === 'domain') domains = values.slice(0, 1)
    const option = keyword === 'options' ? values.findLast((value) => /^ndots:\d+$/.test(value)) : undefined
    if (option) ndots = Math.min(mostDots, Number(option.slice('ndots:'.length)))
  }
  // "." is the root: no domain.
  return { domains: domains.map((domain) => domain.replace(/^\.+|\.+$/g, '')).filter(Boolean), ndots }
}

/** The limit of glibc. */
const mostDots = 15

/** Returns the names to ask for, one after the other; a name that ends with a dot is complete. */
export function namesToAsk(name: string, { domains, ndots }: SearchRules): string[] {
  if (name.endsWith('.')) return [name.slice(0, -1)]
  const searched = domains.map((domain) => `${name}.${domain}`)
  return name.split('.').length - 1 >= ndots ? [name, ...searched] : [...searched, name]
}

const linesOf = (text: string): string[][] =>
  text.split('\n').map((line) =>
    line
      .replace(/[#;].*$/, '')
      .trim()
      .split(/\s+/),
  )

/** A file that is parsed again when it has changed; one that cannot be read is empty. */
export class WatchedFile<Content> {
  readonly #path: string
  readonly #parse: (text: string) => Content
  #version = ''
  #content: Content

  constructor(path: string, parse: (text: string) => Content) {
    this.#path = path
    this.#parse = parse
    this.#content = parse('')
  }

  async read(): Promise<Content> {
    try {
      const { mtimeMs, size, ino } = await stat(this.#path)
      const version = `${mtimeMs} ${size} ${ino}`
      if (version !== this.#version) {
        this.#content = this.#parse(await readFile(this.#path, 'utf8'))
        this.#version = version
      }
    } catch {
      this.#version = ''
      this.#content = this.#parse('')
    }
    return this.#content
  }
}
