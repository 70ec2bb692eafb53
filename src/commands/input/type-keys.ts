/** Types text key by key into the element that has the focus. */
import type { CommandContext } from '../../core/operation/command.ts'
import type { DirectElement } from '../../core/operation/direct-element.ts'
import { focusForTyping, type TypingTarget } from './typing-target.ts'

/** A field that keys are typed into. */
export interface TypedField {
  /** Types some characters; resolves when the page has handled them. */
  type(piece: string): Promise<void>
  /** Returns whether the field, or another one focused in its place, can still receive keys. */
  state(): Promise<'there' | 'gone' | 'navigated'>
  /** Returns the value of a field for text after the page's reaction; undefined for other elements, and removed ones. */
  settled(): Promise<Settled | undefined>
}

export interface Settled {
  readonly before: string
  readonly value: string
  /** Maximum length of a field that has the focus and is full. */
  readonly most: number | null
}

/** An element whose document can evaluate a function. */
interface Evaluates {
  evaluate<Output>(work: (node: Node) => Output | Promise<Output>): Promise<Output>
}

interface FieldFacts {
  readonly isThere: boolean
  /** Number of keys that the document has received, in the world of direct actions. */
  readonly keys: number
  /** Value of a field for text. */
  readonly value?: string
}

/** Runs in the page. Self-contained: only the text of the function reaches it. */
function fieldFacts(node: Node): FieldFacts {
  const { activeElement, body } = node.ownerDocument ?? document
  const isThere = node.isConnected || (activeElement !== null && activeElement !== body)
  const { baxDirect } = globalThis as { baxDirect?: { keys(): number } }
  const isField = node instanceof HTMLTextAreaElement || node instanceof HTMLInputElement
  return { isThere, keys: baxDirect?.keys() ?? 0, ...(isField && node.isConnected && { value: node.value }) }
}

/**
 * Runs in the page: returns the value of a field after the next task, in which pages restore a value that they did not
 * accept; null for one that was removed.
 */
async function settledValue(node: Node): Promise<Omit<Settled, 'before'> | null> {
  await new Promise((resolve) => setTimeout(resolve))
  const { value, maxLength } = node as HTMLInputElement
  if (!node.isConnected) return null
  // Fields for single characters move the focus on.
  const isFull = maxLength >= 0 && value.length >= maxLength && (node.getRootNode() as Document).activeElement === node
  return { value, most: isFull ? maxLength : null }
}

/** Returns a field or an editor that Playwright types into, one key after the other. */
export async function playwrightField(
  { page }: CommandContext,
  field: Evaluates,
  kind: TypingTarget,
): Promise<TypedField> {
  const before = kind === 'field' ? (await field.evaluate(fieldFacts)).value : undefined
  return {
    type: (piece) => page.keyboard.type(piece),
    async state() {
      try {
        return (await field.evaluate(fieldFacts)).isThere ? 'there' : 'gone'
      } catch {
        // The document or the page is gone; the next key press fails by itself.
        return 'navigated'
      }
    },
    async settled() {
      const now = before === undefined ? null : await field.evaluate(settledValue)
      return now ? { before: before!, ...now } : undefined
    },
  }
}

/** Runs in the page: returns whether a field takes text as keys. */
function takesKeys(node: Element): boolean {
  const types = ['text', 'search', 'tel', 'url', 'password', 'email', 'number']
  return node instanceof HTMLTextAreaElement || (node instanceof HTMLInputElement && types.includes(node.type))
}

/** Focuses a field for typing; leaves all but plain fields to Playwright. */
export async function directField(
  { page, send }: CommandContext,
  element: DirectElement,
  clear: boolean,
): Promise<TypedField> {
  const select = (node: Element) => (node as HTMLInputElement).select()
  const works = [takesKeys, focusForTyping, fieldFacts, ...(clear ? [select] : [])]
  const [takes, kind, facts] = await element.evaluateEach(works)
  if (!takes) return element.unclear('not a plain field')
  if (kind !== 'field') return element.unclear('it cannot be focused')
  let { keys } = facts as FieldFacts
  const { value: before } = facts as FieldFacts
  if (clear) {
    await send(() => element.keys(['Delete']))
    keys++
  }
  return {
    async type(piece) {
      if (!onKeyboard.test(piece)) return page.keyboard.type(piece)
      await element.keys([...piece].map((character) => (character === '\n' ? 'Enter' : character)))
      keys += piece.length
    },
    async state() {
      const facts = await element.evaluate(fieldFacts, undefined).catch(() => undefined)
      if (!facts) return 'navigated'
      // Keys that went to another frame, for example.
      return facts.isThere && facts.keys >= keys ? 'there' : 'gone'
    },
    async settled() {
      const now = await element.evaluate(settledValue, undefined)
      return now ? { before: before!, ...now } : undefined
    },
  }
}

/** Characters of the keyboard layout. */
const onKeyboard = /^[ -~\n]+$/
