/** Things that a page describes in JSON-LD, microdata or RDFa, in one form. */
import { attribute, type ElementNode, isElement, rawText, visibleText } from '../../../extract/tree.ts'

export type Syntax = 'json-ld' | 'microdata' | 'rdfa'
export type Value = string | Thing

export interface Thing {
  readonly syntax: Syntax
  /** Types in lower case, without their vocabulary: `product`. */
  readonly types: readonly string[]
  readonly id?: string
  readonly fields: ReadonlyMap<string, readonly Value[]>
  /** Element of microdata and RDFa. */
  readonly element?: ElementNode
}

/** Maximum nesting, and number of values of a page; beyond them, data is not read. */
const maxDepth = 24
const maxValues = 50_000

export interface Things {
  /** Things that no other one contains, in document order. */
  readonly top: readonly Thing[]
  /** Returns the thing that a reference (`{"@id": …}`, or a text that is an ID) names. */
  resolve(value: Value | undefined): Value | undefined
  readonly warnings: readonly string[]
}

/** Reads the structured data of a page. Invalid JSON-LD is common and ignored. */
export function thingsOf(root: ElementNode): Things {
  const reader = new Reader()
  reader.readPage(root)
  return {
    top: reader.top,
    resolve: (value) => (value === undefined ? undefined : reader.resolve(value)),
    warnings: reader.isCut ? ['the structured data is too large or too deep, and was read in part'] : [],
  }
}

const plainName = (name: string): string => name.split(/[/#:]/).at(-1) ?? ''
const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** An open scope of microdata or RDFa. */
interface Scope {
  readonly syntax: 'microdata' | 'rdfa'
  readonly fields: Map<string, Value[]>
}

class Reader {
  readonly top: Thing[] = []
  readonly #byId = new Map<string, Thing>()
  #left = maxValues
  isCut = false

  resolve(value: Value): Value {
    if (typeof value === 'string') return value
    // A reference has no fields of its own.
    return value.id !== undefined && value.fields.size === 0 ? (this.#byId.get(value.id) ?? value) : value
  }

  readPage(root: ElementNode): void {
    const scripts: string[] = []
    this.#visit(root, undefined, scripts)
    for (const script of scripts) this.#readScript(script)
  }

  /** Counts a value; returns false beyond the limit. */
  #count(): boolean {
    if (this.#left-- > 0) return true
    this.isCut = true
    return false
  }

  #readScript(text: string): void {
    let parsed: unknown
    // Line breaks within texts are invalid, but common.
    const json = text.replaceAll(/[\n\r\t]/g, ' ')
    try {
      parsed = JSON.parse(
        json.trim().replaceAll(/^(?:\/\/\s{0,99})?<!\[CDATA\[|(?:\/\/\s{0,99})?\]\]>;?$|^<!--|-->$/g, ''),
      )
    } catch {
      return
    }
    for (const value of this.#valuesOf(parsed, 0)) if (typeof value !== 'string') this.#addTop(value)
  }

  /** Adds a thing, and those in its `@graph`. */
  #addTop(thing: Thing): void {
    if (thing.types.length > 0) this.top.push(thing)
    for (const inner of thing.fields.get('@graph') ?? []) if (typeof inner !== 'string') this.#addTop(inner)
  }

  #valuesOf(value: unknown, depth: number): Value[] {
    if (value === null || value === undefined) return []
    if (depth > maxDepth) {
      this.isCut = true
      return []
    }
    if (Array.isArray(value)) {
      const found: Value[] = []
      for (const item of value) {
        if (this.#left <= 0) {
          this.isCut = true
          break
        }
        for (const inner of this.#valuesOf(item, depth + 1)) found.push(inner)
      }
      return found
    }
    if (!this.#count()) return []
    if (!isRecord(value)) return [String(value)]
    const plain = value['@value']
    if (plain !== undefined) return isRecord(plain) || Array.isArray(plain) ? [] : [String(plain)]
    // Containers of lists have no other fields.
    const list = value['@list'] ?? value['@set']
    return list === undefined ? [this.#thingOf(value, depth)] : this.#valuesOf(list, depth + 1)
  }

  #thingOf(value: Record<string, unknown>, depth: number): Thing {
    const fields = new Map<string, readonly Value[]>()
    for (const [key, inner] of Object.entries(value)) {
      if (key.startsWith('@') && key !== '@graph') continue
      const values = this.#valuesOf(inner, depth + 1)
      if (values.length > 0) fields.set(key === '@graph' ? key : plainName(key), values)
    }
    const id = value['@id']
    return this.#keep({
      syntax: 'json-ld',
      types: [value['@type']]
        .flat()
        .filter((type) => typeof type === 'string')
        .map((type) => plainName(type).toLowerCase()),
      fields,
      ...(typeof id === 'string' && { id }),
    })
  }

  /** Remembers a thing by its ID; the first one with fields counts. */
  #keep(thing: Thing): Thing {
    if (thing.id !== undefined && (thing.fields.size > 0 || thing.element) && !this.#byId.has(thing.id))
      this.#byId.set(thing.id, thing)
    return thing
  }

  /** Reads microdata and RDFa, and collects the scripts with JSON-LD. */
  #visit(element: ElementNode, scope: Scope | undefined, scripts: string[]): void {
    if (element.tag === 'template' || element.tag === 'noscript') return
    if (element.tag === 'script') {
      if (/ld\+json/i.test(attribute(element, 'type'))) scripts.push(rawText(element))
      return
    }
    const own = this.#scopeOf(element, scope)
    if (!own) this.#readProperty(element, scope)
    for (const child of element.children) if (isElement(child)) this.#visit(child, own ?? scope, scripts)
  }

  /** Opens the scope of an element that describes a thing, and adds it to the one around it. */
  #scopeOf(element: ElementNode, outer: Scope | undefined): Scope | undefined {
    const { attributes } = element
    const syntax =
      attributes['itemscope'] !== undefined ? 'microdata' : attributes['typeof'] !== undefined ? 'rdfa' : undefined
    if (!syntax || !this.#count()) return undefined
    const fields = new Map<string, Value[]>()
    const types = attribute(element, syntax === 'microdata' ? 'itemtype' : 'typeof')
    const id = attributes[syntax === 'microdata' ? 'itemid' : 'resource']
    const thing = this.#keep({
      syntax,
      types: wordsOf(types).map((type) => plainName(type).toLowerCase()),
      fields,
      element,
      ...(id !== undefined && { id }),
    })
    const names = namesOf(element, syntax)
    if (names.length > 0 && outer?.syntax === syntax) for (const name of names) put(outer.fields, name, thing)
    else this.top.push(thing)
    return { syntax, fields }
  }

  #readProperty(element: ElementNode, scope: Scope | undefined): void {
    if (!scope) return
    for (const name of namesOf(element, scope.syntax))
      if (this.#count()) put(scope.fields, name, valueOf(element, scope.syntax))
  }
}

const wordsOf = (text: string): string[] => text.split(/\s/).filter(Boolean)

const namesOf = (element: ElementNode, syntax: Scope['syntax']): string[] => {
  const names = element.attributes[syntax === 'microdata' ? 'itemprop' : 'property']
  return names === undefined ? [] : wordsOf(names).map(plainName)
}

function put(fields: Map<string, Value[]>, name: string, value: Value): void {
  const known = fields.get(name)
  if (known) known.push(value)
  else fields.set(name, [value])
}

/** Maximum length of a text, because properties may be nested. */
const maxText = 5000

/** Returns the property value of an element. */
function valueOf(element: ElementNode, syntax: Scope['syntax']): string {
  const { tag, attributes } = element
  const { content, datetime, href, src, value, resource } = attributes
  if (content !== undefined) return content
  if (datetime !== undefined) return datetime
  if (syntax === 'rdfa' && resource !== undefined) return resource
  if (/^(?:a|link|area)$/.test(tag) && href !== undefined) return href
  if (/^(?:img|audio|video|source|iframe|embed|track)$/.test(tag)) return src ?? attributes['data-src'] ?? ''
  if (/^(?:data|meter)$/.test(tag) && value !== undefined) return value
  return visibleText(element, maxText)
}
