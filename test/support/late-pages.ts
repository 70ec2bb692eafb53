/** Pages that show their content long after loading, each in a different way. */
import { createHash } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { respondWith } from './web.ts'

const shell = (script: string, body = '<div id="root"></div>') =>
  `<!doctype html><title>Late</title>${body}<script>
    const show = (text) => { document.getElementById('root').innerHTML = '<h1>Late content</h1><p>' + text + '</p>' }
    const add = (text) => { document.getElementById('root').insertAdjacentHTML('beforeend', '<p>' + text + '</p>') }
    ${script}</script>`

const pixel = Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64')
const spinner = '<main id="root"><div class="spinner" role="progressbar" aria-label="Loading">Loading…</div></main>'
const item = (n: number) => `Item ${n} of the list, which came by itself.`
const items = [1, 2, 3, 4, 5].map(item)

/** By kind: the page, and the texts that it finally shows. */
export const latePages: Record<string, { readonly html: string; readonly texts: readonly string[] }> = {
  'timer-1000': late("setTimeout(() => show('After a second'), 1000)", 'After a second'),
  'timer-610': late("setTimeout(() => show('After 610 ms'), 610)", 'After 610 ms'),
  'timer-2000': late("setTimeout(() => show('After two seconds'), 2000)", 'After two seconds'),
  'timer-text': late(`setTimeout("show('From a timer of text')", 900)`, 'From a timer of text'),
  'timers-nested': {
    html: shell(
      "show('First'); setTimeout(() => { add('Second'); setTimeout(() => { add('Third'); setTimeout(() => add('Fourth'), 700) }, 900) }, 800)",
    ),
    texts: ['First', 'Second', 'Third', 'Fourth'],
  },
  interval: {
    html: shell(
      `let n = 0; const timer = setInterval(() => { n++; add('Item ' + n + ' of the list, which came by itself.'); if (n === 5) clearInterval(timer) }, 300)`,
    ),
    texts: items,
  },
  'interval-polls': late(
    "let ready = false; setTimeout(() => { ready = true }, 2500); const timer = setInterval(() => { if (!ready) return; clearInterval(timer); show('Polled until it was ready') }, 100)",
    'Polled until it was ready',
  ),
  'event-source': {
    html: shell("new EventSource('/events').onmessage = ({ data }) => add(data)"),
    texts: items,
  },
  'web-socket': {
    html: shell("new WebSocket(location.href.replace('http', 'ws')).onmessage = ({ data }) => add(data)"),
    texts: items,
  },
  frames: late(
    "let frame = 0; const next = () => { if (++frame < 60) requestAnimationFrame(next); else show('In the sixtieth frame') }; requestAnimationFrame(next)",
    'In the sixtieth frame',
  ),
  'image-load': late(
    '',
    'The image has loaded',
    `<div id="root"></div><img src="/slow.gif" onload="show('The image has loaded')" onerror="show('wrong')">`,
  ),
  'image-error': late(
    '',
    'The image is missing',
    `<div id="root"></div><img src="/missing.gif" onload="show('wrong')" onerror="show('The image is missing')">`,
  ),
  'image-new': late(
    "const image = new Image(); image.addEventListener('load', () => show(image.naturalWidth + ' pixel wide')); image.src = '/slow.gif'",
    '1 pixel wide',
  ),
  'spinner-replaced': late("setTimeout(() => show('Instead of a spinner'), 1500)", 'Instead of a spinner', spinner),
  'spinner-slow': late("setTimeout(() => show('After a long spinner'), 4000)", 'After a long spinner', spinner),
  'please-wait': late(
    "setTimeout(() => show('Nobody waits any more'), 2300)",
    'Nobody waits any more',
    '<div id="root"><p>Please wait…</p></div>',
  ),
  'fetch-then-timer': late(
    "fetch('/slow.json').then((answer) => answer.json()).then(({ text }) => setTimeout(() => show(text), 800))",
    'Fetched, and shown later',
  ),
  'dynamic-import': late("setTimeout(() => import('/late-module.js'), 700)", 'From a module that came late'),
  'intersection-observer': late(
    "setTimeout(() => new IntersectionObserver(([{ isIntersecting }]) => { if (isIntersecting) show('Seen below the fold') }).observe(root), 700)",
    'Seen below the fold',
    '<div style="height: 3000px"></div><div id="root"></div>',
  ),
  worker: {
    html: shell("new Worker('/worker.js').onmessage = ({ data }) => add(data)"),
    texts: items,
  },
  'custom-element': late(
    "setTimeout(() => customElements.define('late-part', class extends HTMLElement { connectedCallback() { this.innerHTML = '<p>Upgraded at last</p>' } }), 1100)",
    'Upgraded at last',
    '<div id="root"><late-part></late-part></div>',
  ),
  idle: late(
    "setTimeout(() => requestIdleCallback(() => show('When there was nothing else to do')), 700)",
    'When there was nothing else to do',
  ),
  'task-delayed': late(
    "scheduler.postTask(() => show('A task that was put off'), { delay: 900 })",
    'A task that was put off',
  ),
  message: late(
    '',
    'A frame has sent this',
    `<div id="root"></div><iframe hidden src="/speaks.html"></iframe><script>addEventListener('message', ({ data }) => show(data))</script>`,
  ),
  stylesheet: late(
    "const link = document.createElement('link'); link.rel = 'stylesheet'; link.href = '/slow.css'; link.onload = () => show('The style has come'); setTimeout(() => document.head.append(link), 100)",
    'The style has come',
  ),
  streamed: late(
    "fetch('/pieces').then(async ({ body }) => { for await (const part of body.pipeThrough(new TextDecoderStream())) add(part) })",
    item(5),
  ),
}

function late(script: string, text: string, body?: string) {
  return { html: shell(script, body), texts: [text] }
}

const after = (ms: number, type: string, body: string | Buffer) => (_: IncomingMessage, response: ServerResponse) =>
  void setTimeout(() => response.writeHead(200, { 'content-type': type }).end(body), ms)

/** Sends the items one after the other. */
function inPieces(type: string, piece: (text: string) => string) {
  return (request: IncomingMessage, response: ServerResponse): void => {
    response.writeHead(200, { 'content-type': type, 'cache-control': 'no-store' }).flushHeaders()
    let n = 0
    const timer = setInterval(() => {
      if (n < items.length) response.write(piece(items[n++]!))
      else if (type !== 'text/event-stream') response.end()
    }, 250)
    response.on('close', () => clearInterval(timer))
    request.on('error', () => {})
  }
}

/** Returns the pages, at `/KIND`, with their resources. */
export const lateSite = {
  ...Object.fromEntries(Object.entries(latePages).map(([kind, { html }]) => [`/${kind}`, html])),
  '/slow.gif': after(900, 'image/gif', pixel),
  '/missing.gif': respondWith('text/html', 'not here', {}, 404),
  '/slow.json': after(300, 'application/json', '{"text":"Fetched, and shown later"}'),
  '/slow.css': after(800, 'text/css', 'p { color: black }'),
  '/late-module.js': after(300, 'text/javascript', "show('From a module that came late')"),
  '/worker.js': respondWith(
    'text/javascript',
    `let n = 0; const timer = setInterval(() => { n++; postMessage('Item ' + n + ' of the list, which came by itself.'); if (n === 5) clearInterval(timer) }, 250)`,
  ),
  '/speaks.html': respondWith(
    'text/html',
    "<script>setTimeout(() => parent.postMessage('A frame has sent this', '*'), 1200)</script>",
  ),
  '/events': inPieces('text/event-stream', (text) => `data: ${text}\n\n`),
  '/pieces': inPieces('text/plain', (text) => text),
}

/** Sends the items over a WebSocket one after the other, and leaves it open. */
export function sendLater(request: IncomingMessage, socket: Duplex): void {
  const key = `${request.headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`
  const accept = createHash('sha1').update(key).digest('base64')
  socket.write(
    `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`,
  )
  let n = 0
  const timer = setInterval(() => {
    const text = items[n++]
    if (text === undefined) return clearInterval(timer)
    socket.write(Buffer.concat([Buffer.from([0x81, Buffer.byteLength(text)]), Buffer.from(text)]))
  }, 250)
  socket.on('close', () => clearInterval(timer)).on('end', () => socket.end())
  socket.on('error', () => {}).resume()
}
