/** Names of keys. */
import type { Keyboard } from 'playwright'
import { z } from 'zod'
import { BaxError } from '../../core/errors/errors.ts'

export const key = z.string().min(1).max(100)

/** Common key names, mapped to Playwright's. */
const keyNames: Record<string, string> = {
  ctrl: 'Control',
  control: 'Control',
  cmd: 'Meta',
  command: 'Meta',
  meta: 'Meta',
  win: 'Meta',
  alt: 'Alt',
  option: 'Alt',
  shift: 'Shift',
  esc: 'Escape',
  escape: 'Escape',
  return: 'Enter',
  enter: 'Enter',
  tab: 'Tab',
  space: 'Space',
  del: 'Delete',
  delete: 'Delete',
  backspace: 'Backspace',
  insert: 'Insert',
  home: 'Home',
  end: 'End',
  pageup: 'PageUp',
  pagedown: 'PageDown',
  up: 'ArrowUp',
  down: 'ArrowDown',
  left: 'ArrowLeft',
  right: 'ArrowRight',
  arrowup: 'ArrowUp',
  arrowdown: 'ArrowDown',
  arrowleft: 'ArrowLeft',
  arrowright: 'ArrowRight',
}

/** Returns Playwright's name of a key or combination. */
export function keyName(key: string): string {
  // The last plus of `Control++` is the key itself.
  const parts = key.length > 1 ? key.split(/\+(?!$)/) : [key]
  return parts.map((part) => keyNames[part.toLowerCase()] ?? part).join('+')
}

/** Waits for a key press. @throws BaxError `invalid_data` for an unknown key. */
export async function pressed(work: Promise<void>, key: string, keyboard: Keyboard): Promise<void> {
  try {
    await work
  } catch (error) {
    if (!(error instanceof Error && /Unknown key/.test(error.message))) throw error
    // The keys before the unknown one are pressed by now; they can be unknown, too.
    for (const held of keyName(key).split('+').slice(0, -1)) await keyboard.up(held).catch(() => {})
    throw new BaxError('invalid_data', `unknown key ${JSON.stringify(key)}`, {
      hint: 'use a name of KeyboardEvent.key (Enter, Escape, ArrowDown, a, F1), and join combinations with +',
      cause: error,
    })
  }
}

/** Returns whether a key can submit a form, from a field or on a button. */
export const submits = (key: string): boolean => /^(?:NumpadEnter|Enter|Space| )$/.test(keyName(key))
