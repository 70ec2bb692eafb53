/** Sessions on a site with a form, watched in live views. */
import { viewedSessions } from './viewed-sessions.ts'

const form = `<title>Sign in</title><style>* { margin: 0; font: 20px monospace } input, button { display: block; width: 400px; height: 40px }</style>
  <form action="/done"><input name="who"><input name="word" type="password"><button>Go</button></form>
  <button onclick="document.title = prompt('Your name?', 'nobody')">Ask</button>`

/** Opens an engine, the site and a browser for the tests of a file. */
export function liveViews() {
  const given = viewedSessions({
    '/': form,
    '/done': '<title>Done</title><h1>Done</h1>',
    '/red': '<title>Red</title><body style="background: rgb(255, 0, 0)">',
    '/busy':
      '<title>Busy</title><h1>0</h1><script>setInterval(() => { document.querySelector("h1").textContent++ }, 20)</script>',
  })
  return {
    given,
    create: given.create,
    linkTo: (session_id: string, control = false) => given.homes.clients.http.linkLiveView({ session_id, control }),
    openView: (url: string) => given.views.open(url),
  }
}
