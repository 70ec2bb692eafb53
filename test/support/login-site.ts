/** A site with the usual forms of log-ins; ann logs in with a password that needs escaping, and a one-time code. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { totpCode } from '../../src/engine/store/totp.ts'

export const account = { username: 'ann', password: 'p&ss "wörd"/+<1>', totp: 'JBSWY3DPEHPK3PXP' } as const

const html = (title: string, body: string) => `<!doctype html><title>${title}</title><h1>${title}</h1>${body}`
const name = '<label>User name <input name=user autocomplete=username></label>'
const pass = '<label>Password <input type=password name=pw></label>'
const form = (action: string, fields: string) =>
  html('Log in', `<form method=post action="${action}">${fields}<button>Log in</button></form>`)
const code = (notice = '') =>
  html(
    'Check',
    `${notice}<form method=post action=/code><label>6-digit code <input name=code inputmode=numeric></label><button>Verify</button></form>`,
  )
const welcome = html(
  'Account',
  '<p>Welcome Ann</p><form action=/search><input type=search name=q><button>Search</button></form>',
)
const wrong = (action: string) => form(action, `<p role=alert>Wrong user name or password</p>${name}${pass}`)

const isRight = (fields: URLSearchParams) =>
  fields.get('user') === account.username && fields.get('pw') === account.password

type Answer = (fields: URLSearchParams) => Promise<string> | string

function posted(answer: Answer) {
  return async (request: IncomingMessage, response: ServerResponse) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const body = await answer(new URLSearchParams(Buffer.concat(chunks).toString()))
    const isRedirect = body.startsWith('/')
    response.writeHead(isRedirect ? 303 : body === '' ? 500 : 200, {
      'content-type': 'text/html; charset=utf-8',
      ...(isRedirect && { location: body }),
    })
    response.end(isRedirect ? '' : body)
  }
}

export const loginPages = {
  '/plain': form('/session', name + pass),
  '/with-code': form('/first', name + pass),
  '/steps': form('/step', name),
  '/together': form('/both', `${name}${pass}<label>One-time code <input name=otp></label>`),
  '/picture': form('/session', `${name}${pass}<label>Word in the picture <input name=word required></label>`),
  '/terms': form('/session', `${name}${pass}<label><input type=checkbox required>I agree</label>`),
  '/own-checks': form('/session', `${name}${pass}<input type=email name=other value=none>`).replace(
    '<form',
    '$& novalidate',
  ),
  '/late-notice': form('/late-session', name + pass),
  '/dropped': form('/drop', name + pass),
  '/drop': (_: IncomingMessage, response: ServerResponse) => void response.destroy(),
  '/broken': form('/fails', name + pass),
  '/shadow': html(
    'Log in',
    `<div id=host></div><script>document.querySelector('#host').attachShadow({ mode: 'open' }).innerHTML =
    '<form method=post action=/session>${name}${pass}<button>Log in</button></form>'</script>`,
  ),
  '/app': html(
    'App',
    `<div id=app><form>${name}${pass}<button>Log in</button></form></div><script>
    document.querySelector('form').onsubmit = async (event) => {
      event.preventDefault()
      const body = new URLSearchParams(new FormData(event.target))
      const { url } = await fetch('/session', { method: 'POST', body })
      if (url.endsWith('/account')) document.querySelector('#app').textContent = 'Welcome Ann'
      else document.querySelector('#app').insertAdjacentHTML('beforeend', '<p role=alert>Try again</p>')
    }</script>`,
  ),
  // The form is gone long before the answer.
  '/spinner': html(
    'App',
    `<div id=app><form>${name}${pass}<button>Log in</button></form></div><script>
    document.querySelector('form').onsubmit = async (event) => {
      event.preventDefault()
      const body = new URLSearchParams(new FormData(event.target))
      const app = document.querySelector('#app')
      app.textContent = 'One moment'
      await fetch('/token')
      const { ok } = await fetch('/slow-session', { method: 'POST', body })
      app.textContent = ok ? 'Welcome Ann' : 'Sorry'
      if (ok) fetch('/never')
    }</script>`,
  ),
  '/token': 'token',
  '/never': () => {},
  '/slow-session': async (request: IncomingMessage, response: ServerResponse) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    response.statusCode = isRight(new URLSearchParams(Buffer.concat(chunks).toString())) ? 200 : 401
    setTimeout(() => response.end(), 1500)
  },
  '/register': html(
    'Register',
    `<form>${name}${pass}<label>Repeat <input type=password name=again></label><button>Register</button></form><form><label>Newsletter <input type=email name=email></label><button>Subscribe</button></form>`,
  ),
  '/late': `<!doctype html><title>Late</title><script>setTimeout(() => location.replace('/plain'), 300)</script>`,
  '/framed': html('Framed', '<iframe src=/plain></iframe>'),
  '/account': welcome,
  '/check': code(),
  '/password': form('/session', `<input type=hidden name=user value=ann>${pass}`),
  '/session': posted((fields) => (isRight(fields) ? '/account' : wrong('/session'))),
  '/late-session': posted(
    () =>
      `${form('/late-session', name + pass)}<script>setTimeout(() => document.body.insertAdjacentHTML('beforeend', '<p role=alert>Wrong password</p>'), 200)</script>`,
  ),
  '/first': posted((fields) => (isRight(fields) ? '/check' : wrong('/first'))),
  '/step': posted((fields) =>
    fields.get('user') === account.username ? '/password' : form('/step', `<p role=alert>No such user</p>${name}`),
  ),
  '/both': posted(async (fields) =>
    isRight(fields) && (await isCurrent(fields.get('otp'))) ? '/account' : wrong('/both'),
  ),
  '/code': posted(async (fields) =>
    (await isCurrent(fields.get('code'))) ? '/account' : code('<p role=alert>Wrong code</p>'),
  ),
  '/fails': posted(() => ''),
}

/** Accepts the code of the previous half minute, as servers do. */
async function isCurrent(given: string | null): Promise<boolean> {
  const codes = [0, 30_000].map((ago) => totpCode(account.totp, Date.now() - ago))
  return (await Promise.all(codes)).includes(given ?? '')
}
