/** The live view: one self-contained HTML page. It contains no secret; its websocket requires the token. */
import { createHash } from 'node:crypto'
import { limits } from '../../core/limits/limits.ts'
import { style } from './style.ts'
import script from './view.page.ts?inline'

const html = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>bax</title>
<link rel="icon" href="data:,">
<style>${style}</style>
<header>
  <span id="name">bax</span> <span id="state" role="status">connecting</span>
  <span id="holder" role="status"></span>
  <button id="record" hidden disabled>Record</button>
  <button id="control" hidden>Take control</button>
</header>
<nav>
  <button data-go="back" aria-label="Back" disabled>←</button>
  <button data-go="forward" aria-label="Forward" disabled>→</button>
  <button data-go="reload" aria-label="Reload" disabled>⟳</button>
  <form id="place"><input id="address" aria-label="Address" readonly spellcheck="false"></form>
</nav>
<section id="handoff" aria-label="Request" hidden>
  <p id="reason"></p>
  <button id="done">Done</button> <button id="cannot">Cannot do this</button>
</section>
<main>
  <ul id="tabs" aria-label="Tabs"></ul>
  <div id="stage"><canvas id="screen" width="1280" height="720" role="img" aria-label="The page"></canvas></div>
  <textarea id="keys" aria-label="Keyboard input for the page" autocapitalize="off" autocomplete="off" spellcheck="false"></textarea>
</main>
<aside>
  <input id="filter" type="search" placeholder="Filter events (network too)" aria-label="Filter events">
  <ol id="events" aria-label="Events"></ol>
</aside>
<dialog id="dialog">
  <form id="reply" method="dialog">
    <p id="message"></p>
    <input id="answer" aria-label="Answer">
    <button value="ok">OK</button> <button id="cancel" value="cancel">Cancel</button>
  </form>
</dialog>
<dialog id="decline" aria-label="Cannot do this">
  <form method="dialog">
    <label>What should the sender know? (optional) <input id="sentence" maxlength="${limits.handoffs.messageChars}" autocomplete="off"></label>
    <button value="send">Send</button> <button value="" formnovalidate>Back</button>
  </form>
</dialog>
<dialog id="script" aria-label="Recorded script">
  <textarea readonly rows="20" cols="90" spellcheck="false" aria-label="Script"></textarea>
  <button>Download</button> <button>Close</button>
</dialog>
<script>${script}</script>
</html>
`

const hashOf = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`

/** Returns the page. Its websocket connects to the host it came from; pages of `origins` may embed it. */
export function livePage({ headers }: Request, origins: ReadonlySet<string>): Response {
  const host = /^[\w.:[\]-]+$/.exec(headers.get('host') ?? '')?.[0]
  const policy = [
    "default-src 'none'",
    `script-src ${hashOf(script)}`,
    `style-src ${hashOf(style)}`,
    // Not every browser counts websockets of the page's own origin as 'self'.
    `connect-src 'self'${host === undefined ? '' : ` ws://${host} wss://${host}`}`,
    // For the empty icon, without which browsers request a file.
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
    `frame-ancestors ${origins.size > 0 ? [...origins].join(' ') : "'none'"}`,
  ]
  return new Response(html, {
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': policy.join('; '),
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-store',
    },
  })
}
