/** The script of the live view: shows the session's messages and sends the user's input. */
import type { LiveDialog, LiveInputMessage, LiveMessage, LiveTab } from '../../core/shapes/live-view.ts'
import { createEventList } from './events.page.ts'
import { createHandoffBar } from './handoff.page.ts'
import { forwardInput } from './input.page.ts'
import { createRecordButton } from './record.page.ts'
import { currentToken, keepToken } from './token.page.ts'

const byId = <Kind extends HTMLElement>(id: string) => document.getElementById(id) as Kind
const canvas = byId<HTMLCanvasElement>('screen')
const keys = byId<HTMLTextAreaElement>('keys')
const control = byId<HTMLButtonElement>('control')
const address = byId<HTMLInputElement>('address')
const dialogBox = byId<HTMLDialogElement>('dialog')
const answer = byId<HTMLInputElement>('answer')
const buttons = [...document.querySelectorAll<HTMLButtonElement>('[data-go]')]

let hasControl = false
let waiting = false
let viewport = { width: 1280, height: 720 }

const [, sessionId = ''] = /\/live\/([^/]+)$/.exec(location.pathname) ?? []
const token = currentToken(new URLSearchParams(location.search).get('token') ?? '')
const showEvent = createEventList(byId('events'), byId('filter'))

const socket = new WebSocket(
  `${location.origin.replace(/^http/, 'ws')}/sessions/${sessionId}/live`,
  // A token in the URL of a websocket would appear in logs.
  ['bax.live.v1', ...(token ? [`bax.bearer.${token}`] : [])],
)
socket.binaryType = 'blob'
let opened = false
socket.addEventListener('open', () => (opened = true))
socket.addEventListener('message', ({ data }: MessageEvent<string | Blob>) => {
  if (typeof data === 'string') handleMessage(JSON.parse(data) as LiveMessage)
  else void paint(data)
})
socket.addEventListener('close', ({ reason }) => {
  setController('nobody')
  control.hidden = true
  record.allow(false)
  handoff.show(null)
  const refused = 'This link does not open the session, or no longer does. Run `bax session view` for a new one.'
  setState(opened ? reason || 'The engine has stopped. Reload this page when it runs again.' : refused, true)
})

const send = (message: LiveInputMessage) => {
  if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify(message))
}
const record = createRecordButton({
  button: byId('record'),
  dialog: byId('script'),
  send,
  focus: () => keys.focus(),
})
const handoff = createHandoffBar({ bar: byId('handoff'), dialog: byId('decline'), send })
forwardInput(canvas, { keys, send, hasControl: () => hasControl, viewport: () => viewport })

function handleMessage(message: LiveMessage): void {
  record.receive(message)
  if (message.type === 'hello') {
    document.title = `${message.name ?? message.session_id} · bax`
    byId('name').textContent = message.name ?? message.session_id
    control.hidden = !message.may_control
    if (message.token !== undefined) keepToken(message.token)
    record.allow(message.may_control)
    viewport = message.viewport
    setState('live', false)
  } else if (message.type === 'tabs') showTabs(message.tabs)
  else if (message.type === 'event') showEvent(message.event)
  else if (message.type === 'handoff') handoff.show(message.handoff)
  else if (message.type === 'control') {
    waiting = message.waiting
    setController(message.holder)
  } else if (message.type === 'stage') viewport = message
  else if (message.type === 'dialog') showDialog(message.dialog)
  else if (message.type === 'error') byId('holder').textContent = message.error
}

let painting = Promise.resolve()

/** Draws frames in the order of arrival, however long each takes to decode. */
async function paint(jpeg: Blob): Promise<void> {
  const decoded = createImageBitmap(jpeg)
  painting = painting.then(async () => {
    const frame = await decoded
    if (canvas.width !== frame.width || canvas.height !== frame.height) {
      canvas.width = frame.width
      canvas.height = frame.height
    }
    canvas.getContext('2d')!.drawImage(frame, 0, 0)
    frame.close()
    canvas.dataset['pictures'] = String(Number(canvas.dataset['pictures'] ?? 0) + 1)
  })
  return painting
}

function showTabs(tabs: readonly LiveTab[]): void {
  const strip = byId('tabs')
  strip.replaceChildren(
    ...tabs.map(({ title, url, active }) => {
      const tab = document.createElement('li')
      tab.textContent = title || url
      tab.title = url
      if (active) tab.setAttribute('aria-current', 'true')
      return tab
    }),
  )
  const active = tabs.find((tab) => tab.active)
  if (active && document.activeElement !== address) address.value = active.url
}

function setController(holder: 'you' | 'another' | 'nobody'): void {
  hasControl = holder === 'you'
  document.body.classList.toggle('holding', hasControl)
  control.textContent = hasControl ? 'Return control' : waiting ? 'Waiting for the running command…' : 'Take control'
  control.disabled = holder === 'another' || waiting
  address.readOnly = !hasControl
  record.setControl(hasControl)
  for (const button of buttons) button.disabled = !hasControl
  byId('holder').textContent = {
    you: 'You have control: commands wait.',
    another: 'Somebody else has control.',
    nobody: '',
  }[holder]
  if (hasControl) keys.focus()
  else if (dialogBox.open) dialogBox.close()
}

function showDialog(dialog: LiveDialog | null): void {
  if (dialogBox.open) dialogBox.close()
  if (!dialog) return
  byId('message').textContent = dialog.message
  answer.hidden = dialog.kind !== 'prompt'
  answer.value = dialog.default_value
  byId('cancel').hidden = dialog.kind === 'alert'
  dialogBox.showModal()
}

function setState(text: string, isOver: boolean): void {
  const state = byId('state')
  state.textContent = text
  state.classList.toggle('over', isOver)
}

control.addEventListener('click', () => send({ type: hasControl ? 'return' : 'take' }))
for (const button of buttons) {
  button.addEventListener('click', () =>
    send({ type: 'history', go: button.dataset['go'] as 'back' | 'forward' | 'reload' }),
  )
}
byId('place').addEventListener('submit', (event) => {
  event.preventDefault()
  send({ type: 'navigate', url: address.value })
  keys.focus()
})
byId('reply').addEventListener('submit', (event) => {
  event.preventDefault()
  const accept = (event.submitter as HTMLButtonElement).value === 'ok'
  send({ type: 'dialog', accept, ...(!answer.hidden && { text: answer.value }) })
})
// Escape closes the dialog without a submit event.
dialogBox.addEventListener('cancel', () => send({ type: 'dialog', accept: false }))
