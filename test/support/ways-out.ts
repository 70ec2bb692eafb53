/** All ways in which a page may try to reach an address. */
import type { IncomingMessage, ServerResponse } from 'node:http'

type Handler = (request: IncomingMessage, response: ServerResponse) => void

/** Markup and scripts by name; `to` is the URL that they request, whose path ends in the name. */
export const waysOut: Record<string, (to: string) => string> = {
  image: (to) => `<img src="${to}">`,
  script: (to) => `<script src="${to}"></script>`,
  style: (to) => `<link rel=stylesheet href="${to}">`,
  background: (to) => `<div style="width:9px;height:9px;background:url('${to}')"></div>`,
  font: (to) => `<style>@font-face{font-family:x;src:url('${to}')}</style><p style="font-family:x">text</p>`,
  object: (to) => `<object data="${to}"></object>`,
  video: (to) => `<video src="${to}" preload=auto></video>`,
  frame: (to) => `<iframe src="${to}"></iframe>`,
  fetch: (to) => `<script>fetch('${to}', { mode: 'no-cors' })</script>`,
  xhr: (to) => `<script>const x = new XMLHttpRequest(); x.open('POST', '${to}'); x.send('a')</script>`,
  import: (to) => `<script type=module>import('${to}')</script>`,
  'event-source': (to) => `<script>new EventSource('${to}')</script>`,
  websocket: (to) => `<script>new WebSocket('${to.replace('http', 'ws')}')</script>`,
  beacon: (to) => `<script>navigator.sendBeacon('${to}', 'a')</script>`,
  ping: (to) => `<a id=a href="#x" ping="${to}">a</a><script>a.click()</script>`,
  prefetch: (to) => `<link rel=prefetch href="${to}">`,
  preload: (to) => `<link rel=preload as=image href="${to}">`,
  form: (to) => `<form id=f method=post action="${to}"></form><script>f.submit()</script>`,
  popup: (to) => `<script>window.open('${to}')</script>`,
  download: (to) => `<a id=a href="${to}" download>a</a><script>a.click()</script>`,
  location: (to) => `<script>location.href = '${to}'</script>`,
  'meta-refresh': (to) => `<meta http-equiv=refresh content="0;url=${to}">`,
  'redirected-image': (to) => `<img src="/redirect?to=${encodeURIComponent(to)}">`,
  'redirected-frame': (to) => `<iframe src="/redirect?to=${encodeURIComponent(to)}"></iframe>`,
  'redirected-fetch': (to) => `<script>fetch('/redirect?to=${encodeURIComponent(to)}', { mode: 'no-cors' })</script>`,
  'redirected-location': (to) => `<script>location.href = '/redirect?to=${encodeURIComponent(to)}'</script>`,
  worker: (to) => `<script>new Worker('/worker.js?to=${encodeURIComponent(to)}')</script>`,
  'worker-socket': (to) => `<script>new Worker('/socket.js?to=${encodeURIComponent(to)}')</script>`,
  'shared-worker': (to) => `<script>new SharedWorker('/worker.js?to=${encodeURIComponent(to)}')</script>`,
  'service-worker': (to) =>
    `<script>navigator.serviceWorker.register('/worker.js?to=${encodeURIComponent(to)}')</script>`,
  policy: (to) => `<iframe src="/policy?to=${encodeURIComponent(to)}"></iframe>`,
}

const script =
  (text: string): Handler =>
  (request, response) => {
    const to = new URL(request.url!, 'http://x').searchParams.get('to')!
    response.writeHead(200, { 'content-type': 'text/javascript' })
    response.end(text.replaceAll('TO', to))
  }

/** Pages that a site needs for these ways: `/way?name=…&to=…` is the page of a way. */
export const wayPages: Record<string, Handler> = {
  '/way': (request, response) => {
    const query = new URL(request.url!, 'http://x').searchParams
    const way = waysOut[query.get('name')!]!(query.get('to')!)
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' })
    response.end(`<!doctype html><title>${query.get('name')}</title><body><p>A page that tries something.</p>${way}`)
  },
  '/redirect': (request, response) => {
    response.writeHead(302, { location: new URL(request.url!, 'http://x').searchParams.get('to')! })
    response.end()
  },
  '/worker.js': script(`fetch('TO', { mode: 'no-cors' }).catch(() => {})`),
  '/socket.js': script(`new WebSocket('TO'.replace('http', 'ws'))`),
  '/policy': (request, response) => {
    const to = new URL(request.url!, 'http://x').searchParams.get('to')!
    response.writeHead(200, {
      'content-type': 'text/html',
      'content-security-policy': `img-src 'none'; report-uri ${to}`,
    })
    response.end('<img src="/forbidden.png">')
  },
}
