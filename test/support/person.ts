/** A person who drives a session through the messages of its live view. */
import { once } from 'node:events'
import { expect, onTestFinished } from 'vitest'
import { WebSocket } from 'ws'
import type { LiveInputMessage } from '../../src/core/shapes/live-view.ts'
import type { Homes } from './homes.ts'

export interface PersonInControl {
  send(input: LiveInputMessage): void
  /** Waits for a message that contains a text. */
  received(part: string): Promise<void>
  /** Presses and releases a mouse button, at one place or from one to another. */
  click(at: { readonly x: number; readonly y: number }, more?: Partial<Mouse>, to?: { x: number; y: number }): void
  /** Presses and releases keys. */
  press(...keys: readonly string[]): void
  giveBack(): Promise<void>
}

type Mouse = Extract<LiveInputMessage, { type: 'mouse' }>

/** Takes control of a session as its live view does. */
export async function takeControl(homes: Homes, session_id: string): Promise<PersonInControl> {
  const { token } = await homes.clients.http.linkLiveView({ session_id, control: true })
  const address = `${homes.baseUrl.replace('http', 'ws')}/sessions/${session_id}/live`
  const socket = new WebSocket(address, ['bax.live.v1', `bax.bearer.${token}`])
  onTestFinished(() => socket.close())
  const messages: string[] = []
  socket.on('message', (data: Buffer, isBinary) => void (isBinary || messages.push(data.toString())))
  const received = (part: string, from = 0) =>
    expect.poll(() => messages.slice(from).some((text) => text.includes(part))).toBe(true)
  const send = (input: LiveInputMessage) => socket.send(JSON.stringify(input))
  await once(socket, 'open')
  send({ type: 'take' })
  await received('"holder":"you"')
  return {
    received: (part) => received(part),
    send,
    click(at, more, to = at) {
      const mouse = { type: 'mouse', button: 'left', clicks: 1, ...more } as const
      send({ ...mouse, ...at, action: 'down', buttons: 1 })
      if (to !== at) send({ ...mouse, ...to, action: 'move', buttons: 1 })
      send({ ...mouse, ...to, action: 'up' })
    },
    press(...keys) {
      for (const key of keys)
        for (const action of ['down', 'up'] as const) send({ type: 'key', action, key, ...codes[key] })
    },
    async giveBack() {
      // A view that opens receives earlier events, too.
      const from = messages.length
      send({ type: 'return' })
      await received('control.returned', from)
      socket.close()
    },
  }
}

/** Codes of keys that type no character; browsers ignore them otherwise. */
const codes: Readonly<Record<string, { readonly code: string; readonly key_code: number }>> = {
  Enter: { code: 'Enter', key_code: 13 },
  Tab: { code: 'Tab', key_code: 9 },
  ArrowDown: { code: 'ArrowDown', key_code: 40 },
  ArrowUp: { code: 'ArrowUp', key_code: 38 },
  Backspace: { code: 'Backspace', key_code: 8 },
  ' ': { code: 'Space', key_code: 32 },
}
