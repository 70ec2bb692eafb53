/**
 * Keeps the clipboard of a shared browser empty. Pages replace it by the clipboard of their session, but not in frames
 * without scripts, where keys copy and paste natively. After each key that may have copied there, the clipboard is
 * overwritten; keys that may paste wait for that. Only for browsers without windows: others use the clipboard of the
 * display, and a further window would be seen.
 */
import { withDeadline } from '../../../core/process/deadline.ts'
import type { CdpMessage } from '../../cdp/router.ts'

type Send = (method: string, params?: object, sessionId?: string) => Promise<Record<string, unknown>>

/** Time for a page to handle a key, after which keys that paste in other pages continue. */
const keyMs = 1000

/** Bits of the modifier keys of CDP. */
const controlOrMeta = 2 | 4
const shift = 8

/** Copies a space; runs in an empty page. */
const overwrite = `{
  const copy = (event) => { event.clipboardData.setData('text/plain', ' '); event.preventDefault() }
  document.addEventListener('copy', copy, { once: true })
  document.execCommand('copy')
}`

export class ClipboardGuard {
  readonly #send: Send
  #page: Promise<string> | undefined
  /** Number of keys that may have copied, until the clipboard is overwritten. */
  #copying = 0
  readonly #waiting: (() => void)[] = []

  constructor(send: Send) {
    this.#send = send
  }

  /** Sends a message with `post`, whose callback runs with the answer, when the clipboard is safe. */
  pass<Answer>(message: CdpMessage, post: (answer: (reply: Answer) => void) => void, answer: (reply: Answer) => void) {
    const use = clipboardUse(message)
    if (use === 'copy') void this.#copy(post, answer)
    else if (use === 'paste' && this.#copying > 0) this.#waiting.push(() => post(answer))
    else post(answer)
  }

  async #copy<Answer>(post: (answer: (reply: Answer) => void) => void, answer: (reply: Answer) => void): Promise<void> {
    this.#copying += 1
    const replied = new Promise<Answer>((resolve) => post(resolve))
    await withDeadline(replied, { ms: keyMs, value: undefined })
    await this.#overwrite()
    this.#copying -= 1
    if (this.#copying === 0) for (const post of this.#waiting.splice(0)) post()
    answer(await replied)
  }

  async #overwrite(): Promise<void> {
    try {
      const session = await (this.#page ??= this.#openPage())
      await this.#send('Runtime.evaluate', { expression: overwrite, userGesture: true }, session)
    } catch {
      // The page or the browser is gone; the next key opens another page.
      this.#page = undefined
    }
  }

  async #openPage(): Promise<string> {
    const { targetId } = await this.#send('Target.createTarget', { url: 'about:blank' })
    const { sessionId } = await this.#send('Target.attachToTarget', { targetId, flatten: true })
    return sessionId as string
  }
}

/** Returns what a message may do with the clipboard of the browser. */
function clipboardUse({ method, params = {} }: CdpMessage): 'copy' | 'paste' | undefined {
  if (method !== 'Input.dispatchKeyEvent' || (params['type'] !== 'keyDown' && params['type'] !== 'rawKeyDown'))
    return undefined
  const commands = Array.isArray(params['commands']) ? params['commands'].map((name) => String(name).toLowerCase()) : []
  if (commands.some((name) => /^(?:copy|cut)/.test(name))) return 'copy'
  if (commands.some((name) => name.startsWith('paste'))) return 'paste'
  const code = Number(params['windowsVirtualKeyCode'] ?? 0)
  const modifiers = Number(params['modifiers'] ?? 0)
  const isChord = (modifiers & controlOrMeta) !== 0
  const isShifted = (modifiers & shift) !== 0
  if ((isChord && [keys.c, keys.x, keys.insert].includes(code)) || (isShifted && code === keys.delete)) return 'copy'
  return (isChord && code === keys.v) || (isShifted && code === keys.insert) ? 'paste' : undefined
}

const keys = { c: 67, v: 86, x: 88, insert: 45, delete: 46 }
