/** Runs in the page: serializes a JavaScript value, with the name of its type. */

import type { TypedValue } from '../../../core/operation/command.ts'

/** Maximum number of entries of objects and arrays; a placeholder reports the rest. */
const maxEntries = 50_000
const maxDepth = 20

export function typedValue(value: unknown): TypedValue {
  if (value === undefined) return { type: 'undefined', value: null }
  if (value === null) return { type: 'null', value: null }
  if (Number.isNaN(value)) return { type: 'nan', value: null }
  const described = describe(value)
  if (described) return { type: 'object', value: described }
  const plain = new Serializer().of(value, 0)
  if (typeof value !== 'object') return { type: typeof value as 'string', value: plain }
  if (value instanceof Date) return { type: 'date', value: plain }
  return { type: Array.isArray(plain) ? 'array' : 'object', value: plain }
}

/** Describes values that are not data, such as elements and functions. */
function describe(value: unknown): { kind: string; description: string } | undefined {
  if (typeof value === 'function') return { kind: 'function', description: clip(String(value)) }
  if (typeof value === 'symbol') return { kind: 'symbol', description: String(value) }
  if (value instanceof Window) return { kind: 'window', description: value.location.href }
  if (value instanceof Document) return { kind: 'document', description: value.URL }
  if (value instanceof Element) return { kind: 'element', description: elementText(value) }
  if (value instanceof Node) return { kind: 'node', description: `${value.nodeName} ${clip(value.textContent ?? '')}` }
  if (value instanceof RegExp) return { kind: 'regexp', description: String(value) }
  if (value instanceof Promise) return { kind: 'promise', description: 'Promise' }
  return undefined
}

function elementText(element: Element): string {
  const open = element.outerHTML.slice(0, element.outerHTML.indexOf('>') + 1)
  const text = (element.textContent ?? '').replaceAll(/\s+/g, ' ').trim()
  return clip(text ? `${open} ${text}` : open)
}

const clip = (text: string) => (text.length > 300 ? `${text.slice(0, 300)}…` : text)

class Serializer {
  #left = maxEntries
  readonly #open = new Set<object>()

  of(value: unknown, depth: number): unknown {
    if (value === null || value === undefined) return null
    if (typeof value === 'bigint') return value.toString()
    if (typeof value === 'number') return Number.isFinite(value) ? value : String(value)
    if (typeof value === 'string' || typeof value === 'boolean') return value
    const described = describe(value)
    if (described) return `[${described.kind} ${described.description}]`
    const object = value as object
    if (object instanceof Date) return Number.isNaN(object.getTime()) ? null : object.toISOString()
    if (this.#open.has(object)) return '[circular]'
    if (depth >= maxDepth) return '[too deep]'
    this.#open.add(object)
    try {
      return this.#inside(object, depth + 1)
    } finally {
      this.#open.delete(object)
    }
  }

  #inside(object: object, depth: number): unknown {
    if (object instanceof Error) return { name: object.name, message: object.message }
    if (object instanceof Map) return this.#list([...object.entries()], depth)
    const lists = [Set, NodeList, HTMLCollection]
    if (lists.some((list) => object instanceof list) || ArrayBuffer.isView(object))
      return this.#list(Array.from(object as Iterable<unknown>), depth)
    if (Array.isArray(object)) return this.#list(object, depth)
    const { toJSON } = object as { toJSON?: unknown }
    if (typeof toJSON === 'function') return this.of(toJSON.call(object), depth)
    return this.#fields(object, depth)
  }

  #list(items: readonly unknown[], depth: number): unknown[] {
    const kept: unknown[] = []
    for (const item of items) {
      if (this.#left-- <= 0) return [...kept, `[${items.length - kept.length} more]`]
      kept.push(this.of(item, depth))
    }
    return kept
  }

  #fields(object: object, depth: number): Record<string, unknown> {
    const fields: Record<string, unknown> = {}
    const keys = Object.keys(object)
    for (const [at, key] of keys.entries()) {
      if (this.#left-- <= 0) return { ...fields, '…': `[${keys.length - at} more]` }
      // A getter of the page may throw.
      try {
        fields[key] = this.of((object as Record<string, unknown>)[key], depth)
      } catch (error) {
        fields[key] = `[threw ${String(error)}]`
      }
    }
    return fields
  }
}

/** Calls `run` with the element as `this`; when its value is a function expression, calls that with the element. */
export async function typedOn(
  element: Element,
  { run, source }: { run: (this: Element) => Promise<unknown>; source: string },
): Promise<TypedValue | { thrown: string }> {
  try {
    const value = await run.call(element)
    // Call only functions written in the expression: `this.onclick` is a value.
    const written = typeof value === 'function' && bare(Function.prototype.toString.call(value)) === bare(source)
    return typedValue(await (written ? (value as (element: Element) => unknown).call(element, element) : value))
  } catch (error) {
    return { thrown: error instanceof Error ? `${error.name}: ${error.message}` : String(error) }
  }
}

const bare = (text: string) => text.replaceAll(/^[\s(]+|[\s;)]+$/g, '').trim()
