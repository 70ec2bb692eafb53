/** The script of the live view: shows what the session tells, and sends what a person does. */
import type { LiveDialog, LiveInputMessage, LiveMessage, LiveTab } from '../../core/shapes/live-view.ts'
import { keepEvents } from './events.page.ts'
import { followHands } from './hands.page.ts'

const one = <Kind extends HTMLElement>(id: string) => document.getElementById(id) as Kind
const canvas = one<HTMLCanvasElement>('screen')
const control = one<HTMLButtonElement>('control')
const address = one<HTMLInputElement>('address')
const dialogBox = one<HTMLDialogElement>('dialog')
const answer = one<HTMLInputElement>('answer')
const buttons = [...document.querySelectorAll<HTMLButtonElement>('[data-go]')]

let holding = false
let waiting = false
let stage = { width: 1280, height: 720 }

const [, sessionId = ''] = /\/live\/([^/]+)$/.exec(location.pathname) ?? []
const token = new URLSearchParams(location.search).get('token') ?? ''
const showEvent = keepEvents(one('events'), one('filter'))

const socket = new WebSocket(
  `${location.origin.replace(/^http/, 'ws')}/sessions/${sessionId}/live`,
  // A token in the address of a websocket would stand in logs.
  ['bax.live.v1', ...(token ? [`bax.bearer.${token}`] : [])],
)
socket.binaryType = 'blob'
let opened = false
socket.addEventListener('open', () => (opened = true))
socket.addEventListener('message', ({ data }: MessageEvent<string | Blob>) => {
  if (typeof data === 'string') hear(JSON.parse(data) as LiveMessage)
  else void paint(data)
})
socket.addEventListener('close', ({ reason }) => {
  setHolding('nobody')
  control.hidden = true
  const refused = 'This address does not open the session (any more). `bax session view` makes a new one.'
  setState(opened ? reason || 'The engine is gone. Load this page again when it is back.' : refused, true)
})

const send = (message: LiveInputMessage) => {
  if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify(message))
}
followHands(canvas, {
  send,
  isHolding: () => holding,
  stage: () => stage,
})

function hear(message: LiveMessage): void {
  if (message.type === 'hello') {
    document.title = `${message.name ?? message.session_id} · bax`
    one('name').textContent = message.name ?? message.session_id
    control.hidden = !message.may_control
    stage = message.viewport
    setState('live', false)
  } else if (message.type === 'tabs') showTabs(message.tabs)
  else if (message.type === 'event') showEvent(message.event)
  else if (message.type === 'control') {
    waiting = message.waiting
    setHolding(message.holder)
  } else if (message.type === 'stage') stage = message
  else if (message.type === 'dialog') showDialog(message.dialog)
  else setNote(message.error)
}

let painting = Promise.resolve()

/** Pictures are drawn in the order in which they came, however long each takes to decode. */
async function paint(jpeg: Blob): Promise<void> {
  const decoded = createImageBitmap(jpeg)
  painting = painting.then(async () => {
    const picture = await decoded
    if (canvas.width !== picture.width || canvas.height !== picture.height) {
      canvas.width = picture.width
      canvas.height = picture.height
    }
    canvas.getContext('2d')!.drawImage(picture, 0, 0)
    picture.close()
    canvas.dataset['pictures'] = String(Number(canvas.dataset['pictures'] ?? 0) + 1)
  })
  return painting
}

function showTabs(tabs: readonly LiveTab[]): void {
  const strip = one('tabs')
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

function setHolding(holder: 'you' | 'another' | 'nobody'): void {
  holding = holder === 'you'
  document.body.classList.toggle('holding', holding)
  control.textContent = holding ? 'Hand back' : waiting ? 'Waiting for what runs…' : 'Take over'
  control.disabled = holder === 'another' || waiting
  address.readOnly = !holding
  for (const button of buttons) button.disabled = !holding
  one('holder').textContent = { you: 'You drive: commands wait.', another: 'Somebody else drives.', nobody: '' }[holder]
  if (holding) canvas.focus()
  else if (dialogBox.open) dialogBox.close()
}

function showDialog(dialog: LiveDialog | null): void {
  if (dialogBox.open) dialogBox.close()
  if (!dialog) return
  one('message').textContent = dialog.message
  answer.hidden = dialog.kind !== 'prompt'
  answer.value = dialog.default_value
  one('cancel').hidden = dialog.kind === 'alert'
  dialogBox.showModal()
}

function setState(text: string, isOver: boolean): void {
  const state = one('state')
  state.textContent = text
  state.classList.toggle('over', isOver)
}

function setNote(text: string): void {
  one('holder').textContent = text
}

control.addEventListener('click', () => send({ type: holding ? 'return' : 'take' }))
for (const button of buttons) {
  button.addEventListener('click', () =>
    send({ type: 'history', go: button.dataset['go'] as 'back' | 'forward' | 'reload' }),
  )
}
one('place').addEventListener('submit', (event) => {
  event.preventDefault()
  send({ type: 'navigate', url: address.value })
  canvas.focus()
})
one('reply').addEventListener('submit', (event) => {
  event.preventDefault()
  const accept = (event.submitter as HTMLButtonElement).value === 'ok'
  send({ type: 'dialog', accept, ...(!answer.hidden && { text: answer.value }) })
})
// Escape closes the box by itself: that is a Cancel too.
dialogBox.addEventListener('cancel', () => send({ type: 'dialog', accept: false }))
