/** Scripts of sessions on pages whose elements have generated IDs, or share their names. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { sessionScripts } from '../support/session-scripts.ts'
import { serveSite } from '../support/site.ts'

const given = sessionScripts()

/** The form gets another ID with every request; one of its fields has neither a name nor a label. */
const page = (number: number) => `<!doctype html><title>Edit</title>
  <a href=#one title=Structure>item</a> <a href=#two title=Browse onclick="document.title = 'Browsed'">item</a>
  <form id=results_${number}><textarea></textarea><button type=button>Save</button></form><form id=other_${number}><textarea></textarea></form>
  <script>const [form] = document.forms
  form.elements[1].onclick = () => fetch('/saved?' + form.elements[0].value).then(() => (document.title = 'Saved'))</script>`

test('finds elements by parts of IDs that stay, and by descriptions', async () => {
  const saved: string[] = []
  let number = 2_046_389_567
  const site = await serveSite({
    '/edit': (_, response) => {
      response.setHeader('content-type', 'text/html')
      response.end(page((number += 7919)))
    },
    '/saved': (request, response) => {
      saved.push(request.url!)
      response.end()
    },
  })
  try {
    const session = await given.createSession()
    await given.line(session, 'open', `${site.url}/edit`)
    await given.line(session, 'click', 'a[title=Browse]')
    await given.line(session, 'fill', 'form:first-of-type > textarea', 'Tea')
    await given.line(session, 'click', 'text=Save')
    const { script } = await given.exported(session)
    expect(script).toContain('click: role=link[name*="item" i][description*="Browse" i]')
    expect(script).toContain('[id^="results_"] >> role=textbox')
    expect(script).not.toMatch(/internal:|results_\d/)
    await writeFile(join(given.folder.path, 'copy.yaml'), script)
    await given.replayThrice('copy.yaml')
    expect(saved).toEqual(Array(4).fill('/saved?Tea'))
  } finally {
    await site.close()
  }
})
