/** Parses the input of a viewer, and converts that of mouse and keyboard to CDP input events. */
import type { CDPSession, Page } from 'playwright'
import { BaxError } from '../../../core/errors/errors.ts'
import { fieldErrorsOf, formatFieldError } from '../../../core/errors/input-errors.ts'
import { limits } from '../../../core/limits/limits.ts'
import { type LiveInput, liveInput } from '../../../core/shapes/live-view.ts'
import { unlessGone } from '../page/playwright-errors.ts'

type Mouse = Extract<LiveInput, { type: 'mouse' }>
type Key = Extract<LiveInput, { type: 'key' }>

const mouseTypes = { move: 'mouseMoved', down: 'mousePressed', up: 'mouseReleased', wheel: 'mouseWheel' } as const
const controlOrMeta = 2 | 4

/** Sends input to one page in order; coalesces mouse moves that arrive too fast. */
export class PageInput {
  readonly page: Page
  readonly #cdp: Promise<CDPSession>
  #delivered: Promise<unknown> = Promise.resolve()
  #moving = false
  #nextMove: Mouse | undefined

  constructor(page: Page, cdp: Promise<CDPSession>) {
    this.page = page
    this.#cdp = cdp
  }

  mouse(event: Mouse): void {
    if (event.action === 'move' && this.#moving) {
      this.#nextMove = event
      return
    }
    // A press has its own position, so a pending move is obsolete.
    this.#nextMove = undefined
    const { action, delta_x: deltaX, delta_y: deltaY, clicks: clickCount, type: _, ...rest } = event
    const wheel = action === 'wheel' && { deltaX, deltaY }
    const params = { ...rest, type: mouseTypes[action], clickCount, pointerType: 'mouse', ...wheel } as const
    const sent = this.#send((cdp) => cdp.send('Input.dispatchMouseEvent', params))
    if (action !== 'move') return
    this.#moving = true
    void sent.finally(() => {
      this.#moving = false
      if (this.#nextMove) this.mouse(this.#nextMove)
    })
  }

  /** Resolves when the page has taken the last event. */
  get delivered(): Promise<unknown> {
    return this.#delivered
  }

  key({ action, key, code, key_code: windowsVirtualKeyCode, location, repeat, modifiers }: Key): void {
    const text = action === 'down' && !(modifiers & controlOrMeta) ? textOf(key) : undefined
    const type = action === 'up' ? 'keyUp' : text === undefined ? 'rawKeyDown' : 'keyDown'
    const commands = commandsOf(action, key, modifiers)
    const texts = {
      ...(text !== undefined && { text, unmodifiedText: text }),
      ...(commands.length > 0 && { commands }),
    }
    const params = {
      type,
      key,
      code,
      windowsVirtualKeyCode,
      location,
      autoRepeat: repeat,
      modifiers,
      ...texts,
    } as const
    void this.#send((cdp) => cdp.send('Input.dispatchKeyEvent', params))
  }

  text(text: string): void {
    void this.#send((cdp) => cdp.send('Input.insertText', { text }))
  }

  /** Sends an event; the response to a press that opens a dialog arrives when the dialog closes. */
  #send(send: (cdp: CDPSession) => Promise<unknown>): Promise<unknown> {
    // Ignore input for a page that closes meanwhile.
    this.#delivered = unlessGone(this.#cdp.then(send))
    return this.#delivered
  }
}

const textOf = (key: string): string | undefined => (key === 'Enter' ? '\r' : [...key].length === 1 ? key : undefined)

/** Returns the editing commands of desktop key bindings, which headless browsers lack. */
function commandsOf(action: Key['action'], key: string, modifiers: number): string[] {
  if (action !== 'down' || !(modifiers & controlOrMeta)) return []
  const commands: Record<string, string> = { a: 'selectAll', z: modifiers & 8 ? 'redo' : 'undo', y: 'redo', x: 'cut' }
  const command = commands[key.toLowerCase()]
  return command === undefined ? [] : [command]
}

/** @throws BaxError `invalid_request` that names the field. */
export function parseInput(text: string): LiveInput {
  if (text.length > limits.live.messageChars) throw new BaxError('payload_too_large', 'the message is too long')
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    throw new BaxError('invalid_json', 'the message is not JSON', { cause })
  }
  const parsed = liveInput.safeParse(value)
  if (parsed.success) return parsed.data
  const issues = fieldErrorsOf(parsed.error)
  throw new BaxError('invalid_request', issues.map(formatFieldError).join('; '), { details: issues })
}
