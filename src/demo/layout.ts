/** The frame around every page of the demo site. */
import { html, raw } from 'hono/html'

/** Text that is escaped already. */
export type Markup = ReturnType<typeof html>

const style = raw(`<style>
body{font:16px/1.5 system-ui,sans-serif;margin:0;color:#1d2a26;background:#fbfaf6}
header,footer{background:#1f4d3f;color:#fff;padding:.7em 1.5em}header a,footer a{color:#fff;margin-right:1.2em}
main{max-width:60em;margin:0 auto;padding:1em 1.5em}h1{line-height:1.2}
a{color:#12664f}button{font:inherit;padding:.4em 1em;background:#12664f;color:#fff;border:0;border-radius:.3em;cursor:pointer}
button:disabled{background:#999}input,select,textarea{font:inherit;padding:.3em}label{display:block;margin:.6em 0}
table{border-collapse:collapse}th,td{border:1px solid #ccc;padding:.3em .7em;text-align:left}
.grid{display:grid;grid-template-columns:repeat(auto-fill,minmax(13em,1fr));gap:1em;padding:0;list-style:none}
.grid li{background:#fff;border:1px solid #ddd;border-radius:.5em;padding:1em}.price{font-weight:bold}
.columns{display:flex;gap:2em}.columns nav{flex:0 0 13em;font-size:.9em}pre{background:#eee9db;padding:.8em;overflow:auto}
.notice{background:#fff4d6;border-left:4px solid #d9a514;padding:.5em 1em}
</style>`)

/** Returns a page. `head` is further markup for its head. */
export const page = (title: string, body: unknown, head: unknown = ''): Markup => html`<!doctype html>
  <html lang="en">
    <head>
      <meta charset="utf-8" />
      <meta name="viewport" content="width=device-width" />
      <title>${title} · Tea House</title>
      ${style}${head}
    </head>
    <body>
      <header>
        <nav aria-label="Site">
          <a href="/">Tea House</a><a href="/shop">Shop</a><a href="/shop/basket">Basket</a
          ><a href="/docs">Documentation</a><a href="/readings">Readings</a><a href="/app">Tasks</a
          ><a href="/hard">Hard pages</a>
        </nav>
      </header>
      <main>${body}</main>
      <footer>The demo site of bax. Nothing here can be bought, and nothing leaves this machine.</footer>
    </body>
  </html>`
