/** The page that the snippets of client libraries work on. */
import { serveSite, type Site } from '../../support/site.ts'

const page = `<!doctype html><title>Snippets</title>
<style>#source, #target { width: 60px; height: 40px; background: #ccc; margin: 4px } #tall { height: 3000px }</style>
<label>Name <input id="name" value=""></label>
<label><input id="agree" type="checkbox"> Agree</label>
<select id="color"><option>red</option><option>green</option></select>
<button id="go" onclick="out('clicked')" ondblclick="out('double')" onmouseover="hovered.textContent = 'yes'">Go</button>
<output id="result"></output><output id="hovered"></output>
<button id="ask" onclick="out(String(confirm('sure?')))">Ask</button>
<button id="prompt" onclick="out(String(prompt('name?', 'none')))">Prompt</button>
<button id="alert" onclick="alert('hi'); out('after')">Alert</button>
<button id="leave" onclick="window.addEventListener('beforeunload', (event) => event.preventDefault()); out('armed')">Leave</button>
<input id="file" type="file" onchange="this.files[0].text().then((text) => out(this.files[0].name + ':' + text))">
<a id="popup" href="/other" target="_blank">popup</a> <a id="download" href="/file">download</a>
<a id="blank" href="/file" target="_blank">download in a tab</a>
<button id="fetch" onclick="fetch('/api').then((r) => r.json()).then((j) => out(j.from), () => out('failed'))">Fetch</button>
<button id="later" onclick="setTimeout(() => document.body.insertAdjacentHTML('beforeend', '<p id=late>late</p>'), 50)">Later</button>
<div id="source" draggable="true" ondragstart="event.dataTransfer.setData('text', 'x')">source</div>
<div id="target" ondragover="event.preventDefault()" ondrop="event.preventDefault(); out('dropped')">target</div>
<iframe name="inner" src="/frame" width="200" height="60"></iframe>
<div id="tall"></div>
<script>const out = (text) => { document.getElementById('result').textContent = text }</script>`

/** Serves the page, and what it refers to. */
export const serveSnippets = (): Promise<Site> =>
  serveSite({
    '/': page,
    '/other': '<!doctype html><title>Other</title><p>Other</p>',
    '/frame': '<!doctype html><button onclick="this.textContent = \'pressed\'">Inside</button>',
    '/whoami': (request, response) => {
      const { 'user-agent': agent, cookie, 'x-extra': extra, authorization } = request.headers
      response
        .setHeader('content-type', 'application/json')
        .end(JSON.stringify({ agent, cookie, extra, authorization }))
    },
    '/protected': (request, response) => {
      const { authorization } = request.headers
      if (authorization === undefined) response.writeHead(401, { 'www-authenticate': 'Basic realm="test"' })
      response.end(authorization)
    },
    '/api': (_request, response) => {
      response.setHeader('content-type', 'application/json').end('{"from":"server"}')
    },
    '/file': (_request, response) => {
      response.setHeader('content-disposition', 'attachment; filename=report.txt').end('the report')
    },
  })
