/** Handoffs on a site with a log-in: a caller asks a person, whom the tests play in the live view. */
import type { Page } from 'playwright'
import { bax } from './cli.ts'
import { viewedSessions } from './viewed-sessions.ts'
import { clickAt, takeOver, waitForFrame } from './views.ts'

const form = `<title>Sign in</title><style>* { margin: 0; font: 20px monospace } input, button { display: block; width: 400px; height: 40px }</style>
  <form action="/account"><input name="who" aria-label="User" oninput="console.log('typed ' + value)"><input name="word" type="password"><button>Go</button></form>
  <p>Please log in</p>`

/** Opens an engine, the site and a browser for the tests of a file. */
export function handoffs() {
  let onReached = () => {}
  const reached = new Promise<void>((resolve) => (onReached = resolve))
  /** A page that does not answer before it is released. */
  const gate = { reached, release: () => {} }
  const given = viewedSessions(
    {
      '/': form,
      '/account': `<title>Account</title><h1>Welcome</h1><p id="you"></p><script>
          you.textContent = 'You are ' + new URLSearchParams(location.search).get('who')
          console.log('signed in with ' + location.search)
          fetch('/beacon' + location.search)</script>`,
      '/beacon': 'ok',
      '/never': () => {},
      '/gate': (_, response) => {
        gate.release = () => void response.end('<title>Gate</title>')
        onReached()
      },
      // A synchronous request keeps the page as busy as a loop, without using the processor.
      '/busy': `<title>Busy</title><script>const request = new XMLHttpRequest(); request.open('GET', '/held', false); request.send()</script>`,
      '/held': () => {},
    },
    { webhookSecret: 'a secret of the receiver' },
  )
  const request = (session_id: string, more: { until?: string; timeout_secs?: number } = {}) =>
    given.homes.clients.http.requestHandoff({ session_id, reason: 'log in to the shop', ...more })
  const ended = ({ session_id, handoff_id }: { session_id: string; handoff_id: string }) =>
    given.homes.clients.http.getHandoff({ session_id, handoff_id, wait_secs: 60 })
  const eventsOf = async (session_id: string) => (await given.homes.clients.http.getSessionLog({ session_id })).events
  const handoffEvents = async (session_id: string) =>
    (await eventsOf(session_id)).filter(({ type }) => type.startsWith('handoff.')).map(({ type }) => type)

  /** Starts `bax handoff`; `url` is the one that it prints. */
  const start = (session_id: string, ...more: string[]) => {
    let shown = (_url: string) => {}
    const url = new Promise<string>((resolve) => (shown = resolve))
    const control = new AbortController()
    const argv = ['handoff', '-s', session_id, '--server', given.homes.baseUrl, '--reason', 'log in', ...more]
    const onError = (text: string) => {
      const found = /^waiting for a person: (\S+)\n/.exec(text)
      if (found) shown(found[1]!)
    }
    return { url, interrupt: () => control.abort(), done: bax(argv, { onError, signal: control.signal }) }
  }
  return { given, gate, create: given.create, request, ended, eventsOf, handoffEvents, start }
}

/** Opens the view of a handoff, takes control and logs in. */
export async function logIn(view: Page): Promise<void> {
  await submitLogin(view)
  await view.waitForFunction(() => document.querySelector<HTMLInputElement>('#address')!.value.includes('/account'))
}

/** Does the same without waiting for the next page: a condition of the handoff may close the view before it shows it. */
export async function submitLogin(view: Page): Promise<void> {
  await waitForFrame(view)
  await takeOver(view)
  await clickAt(view, 100, 20)
  await view.keyboard.type('ada.lovelace')
  await view.keyboard.press('Tab')
  await view.keyboard.type('Pa55-word!')
  await view.keyboard.press('Enter')
}
