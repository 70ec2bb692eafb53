/** Clipboard of a session: kept in the engine, because all contexts of a browser share the browser's own one. */
import type { BrowserContext } from 'playwright'
import { BaxError } from '../../../core/errors/errors.ts'
import { limits } from '../../../core/limits/limits.ts'
import { withDeadline } from '../../../core/process/deadline.ts'
import { oncePer } from '../../../core/once-per.ts'
import { clipboardBinding } from '../cdp/binding-calls.ts'
import pageScript from './clipboard.page.ts?inline'

/** Time for a page to insert a text that it pastes. */
const pasteMs = 500

export class Clipboard {
  #text = ''
  #isTooLong = false
  /** Pages that are inserting the text, and who waits for them. */
  #pasting = 0
  #waiting: (() => void)[] = []

  /** @throws BaxError `content_too_large` when a page has copied more than the clipboard can hold. */
  read(): string {
    if (!this.#isTooLong) return this.#text
    throw new BaxError('content_too_large', `the copied text has more than ${limits.clipboard.chars} characters`)
  }

  write(text: string): void {
    this.#isTooLong = text.length > limits.clipboard.chars
    this.#text = this.#isTooLong ? '' : text
  }

  /** Answers a page. */
  answer(action: unknown, text: unknown): string {
    if (action === 'write' && typeof text === 'string') this.write(text)
    if (action === 'paste') this.#pasting += 1
    if (action === 'pasted' && this.#pasting > 0 && --this.#pasting === 0)
      for (const done of this.#waiting.splice(0)) done()
    return action === 'paste' || action === 'read' ? this.#text : ''
  }

  /** Waits until pages have inserted what they paste; not for long, since a page may not answer. */
  async settled(): Promise<void> {
    if (this.#pasting === 0) return
    const done = new Promise<void>((resolve) => this.#waiting.push(resolve))
    await withDeadline(done, { ms: pasteMs, value: undefined })
    this.#pasting = 0
  }
}

/** Returns the clipboard of a context. */
export const clipboardOf = oncePer((_context: BrowserContext) => new Clipboard())

/**
 * Makes the pages of a new context use its clipboard. In a context that hides automation, pages keep what they copy to
 * themselves, since the function that they call would reveal it.
 */
export async function installClipboard(context: BrowserContext, { hidden }: { hidden: boolean }): Promise<void> {
  const clipboard = clipboardOf(context)
  const binding = hidden ? null : clipboardBinding
  if (binding !== null)
    await context.exposeBinding(binding, (_source, action: unknown, text: unknown) => clipboard.answer(action, text))
  // A function, so that the page gets no variable.
  await context.addInitScript(`(() => { ;${pageScript}; __bax_module.installClipboard(${JSON.stringify(binding)}) })()`)
}
