/** Pages that sites show after the password. The form of `/start/NAME` leads to the page `/show/NAME`. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { loginPages } from './login-site.ts'

const page = (title: string, body: string) => `<!doctype html><title>Example</title><h1>${title}</h1>${body}`
const buttons = (...names: string[]) => names.map((name) => `<button>${name}</button>`).join('')
const factors = ['Text me a code', 'Use an authenticator app', 'Use a security key']
const targetOf = (name: string) => (name.includes('app') ? '/check' : '/elsewhere')

/** Pages with a question, and the question in the error for a credential without one-time codes. */
export const questions: Readonly<Record<string, readonly [html: string, asks: string]>> = {
  buttons: [
    page(
      'Verify it’s you',
      factors.map((name) => `<form action=${targetOf(name)}><button>${name}</button></form>`).join(''),
    ),
    `for a second factor: ${factors.join(', ')}`,
  ],
  radios: [
    page(
      'Two-step verification',
      `<form onsubmit="location = new FormData(this).get('way'); return false">${factors
        .map((name) => `<label><input type=radio name=way value=${targetOf(name)}>${name}</label>`)
        .join('')}<button>Continue</button><a href=/plain>Cancel</a></form>`,
    ),
    `for a second factor: ${factors.join(', ')}`,
  ],
  links: [
    page('Choose a verification method', factors.map((name) => `<a href=${targetOf(name)}>${name}</a>`).join(' ')),
    `for a second factor: ${factors.join(', ')}`,
  ],
  'two-apps': [
    page('Confirm your identity', buttons('Google Authenticator', 'Authenticator app of the bank')),
    'for a second factor: Google Authenticator, Authenticator app of the bank',
  ],
  'no-app': [
    page('2-Step Verification', buttons('Text me a code', 'Call me')),
    'for a second factor: Text me a code, Call me',
  ],
  consent: [page('Tea Shop wants to access your account', buttons('Allow', 'Deny')), 'for a consent: Allow, Deny'],
  stay: [page('Stay signed in?', buttons('Yes', 'No')), 'whether to remember this device: Yes, No'],
  device: [
    page('Remember this device?', buttons('Trust', 'Not now')),
    'whether to remember this device: Trust, Not now',
  ],
  password: [
    page(
      'Update your password now',
      `<form><input type=password autocomplete=new-password><input type=password autocomplete=new-password>${buttons('Save', 'Skip')}</form>`,
    ),
    'for a new password: Save, Skip',
  ],
  phone: [
    page('Approve the request on your phone', buttons('Resend')),
    'for a confirmation on another device or in a message: Resend',
  ],
  chooser: [
    page('Choose an account', buttons('Ann (work)', 'Ann (home)')),
    'to choose an account: Ann (work), Ann (home)',
  ],
}

/** Pages of somebody who is logged in, with words of the questions. */
export const answers: Readonly<Record<string, string>> = {
  settings: page(
    'Two-factor authentication',
    '<p>Welcome Ann</p><a href=/a>Set up an authenticator app</a> <a href=/b>Add a security key</a> <a href=/c>Remove phone</a>',
  ),
  cookies: page('Account', `<p>Welcome Ann</p><h2>We use cookies</h2>${buttons('Accept all', 'Reject all')}`),
  'own-password': page(
    'Change your password',
    `<p>Welcome Ann</p><form><input type=password><input type=password>${buttons('Save')}</form><a href=/out>Log out</a>`,
  ),
  contact: page('Contact', '<p>Welcome Ann</p><a href=/m>Send us an e-mail</a> <a href=/p>Phone numbers</a>'),
  many: page(
    'Choose an account',
    `<p>Welcome Ann</p>${buttons(...Array.from({ length: 15 }, (_, at) => `Account ${at}`))}`,
  ),
  devices: page('Account', `<p>Welcome Ann</p><h2>Remember this device?</h2><a href=/out>Sign out</a>`),
}

const start = (name: string) => loginPages['/plain'].replace('action="/session"', `action="/go/${name}"`)

const go = (name: string) => (request: IncomingMessage, response: ServerResponse) => {
  request.resume()
  response.writeHead(303, { location: `/show/${name}` }).end()
}

const shown = { ...Object.fromEntries(Object.entries(questions).map(([name, [html]]) => [name, html])), ...answers }

export const questionPages = {
  ...loginPages,
  ...Object.fromEntries(
    Object.entries(shown).flatMap(([name, html]) => [
      [`/start/${name}`, start(name)],
      [`/go/${name}`, go(name)],
      [`/show/${name}`, html],
    ]),
  ),
}
