/** Keyboard events of key names such as `Enter`, `a` and `Control+a`. */
import { BaxError } from '../../../core/errors/errors.ts'

interface KeyEvent {
  readonly type: 'keyDown' | 'rawKeyDown' | 'keyUp'
  readonly key: string
  readonly code: string
  readonly windowsVirtualKeyCode: number
  readonly modifiers: number
  readonly text?: string
}

const modifierBits: Record<string, number> = { Alt: 1, Control: 2, Ctrl: 2, Meta: 4, Command: 4, Shift: 8 }

const named: Record<string, number> = {
  Backspace: 8,
  Tab: 9,
  Enter: 13,
  Escape: 27,
  Space: 32,
  PageUp: 33,
  PageDown: 34,
  End: 35,
  Home: 36,
  ArrowLeft: 37,
  ArrowUp: 38,
  ArrowRight: 39,
  ArrowDown: 40,
  Insert: 45,
  Delete: 46,
  F1: 112,
  F2: 113,
  F3: 114,
  F4: 115,
  F5: 116,
  F6: 117,
  F7: 118,
  F8: 119,
  F9: 120,
  F10: 121,
  F11: 122,
  F12: 123,
}

const texts: Record<string, string> = { Enter: '\r', Space: ' ', Tab: '\t' }

/** Returns the events of a key press. @throws BaxError `invalid_data` for an unknown key. */
export function keysOf(keys: string): KeyEvent[] {
  const parts = keys === '+' ? ['+'] : keys.replace(/\+\+$/, '+Plus').split('+')
  const last = parts.pop() ?? ''
  const modifiers = parts.reduce((bits, name) => bits | bitOf(name), 0)
  const name = last === 'Plus' ? '+' : last
  const definition = keyOf(name)
  if (!definition) throw new BaxError('invalid_data', `unknown key ${JSON.stringify(name)}`)
  const { text, ...key } = definition
  // Keys with modifiers other than Shift type no text.
  const typesText = text !== undefined && (modifiers & ~modifierBits['Shift']!) === 0
  return [
    { type: typesText ? 'keyDown' : 'rawKeyDown', ...key, modifiers, ...(typesText && { text }) },
    { type: 'keyUp', ...key, modifiers },
  ]
}

function bitOf(name: string): number {
  const bit = modifierBits[name]
  if (bit === undefined) throw new BaxError('invalid_data', `there is no modifier ${JSON.stringify(name)}`)
  return bit
}

function keyOf(name: string): Omit<KeyEvent, 'type' | 'modifiers'> | undefined {
  const code = named[name]
  if (code !== undefined) {
    const text = texts[name]
    return { key: name === 'Space' ? ' ' : name, code: name, windowsVirtualKeyCode: code, ...(text && { text }) }
  }
  if ([...name].length !== 1) return undefined
  const upper = name.toUpperCase()
  const physical = /[A-Z]/.test(upper) ? `Key${upper}` : /\d/.test(name) ? `Digit${name}` : ''
  return { key: name, code: physical, windowsVirtualKeyCode: upper.charCodeAt(0) & 0xff, text: name }
}
