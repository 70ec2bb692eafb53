/** Tests that a download through a new tab is reported, and that the page stays active. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Homes, openHomes } from '../support/homes.ts'
import { command } from '../support/session-steps.ts'
import { serveSite, type Site } from '../support/site.ts'

const save = 'window.URL.createObjectURL(new Blob(["saved"], { type: "application/zip" }))'
const page = `<!doctype html><title>Reports</title>
  <a id=link href=/report target=_blank>Report</a>
  <a id=noopener href=/report target=_blank rel=noopener>Report</a>
  <a id=slow href=/slow target=_blank>Slow report</a>
  <form action=/report method=post target=_blank><button id=form>Report</button></form>
  <button id=window onclick="window.open('/report')">Report</button>
  <button id=window-noopener onclick="window.open('/report', '', 'noopener')">Report</button>
  <button id=blank onclick="window.open('').location = '/report'">Report</button>
  <button id=blob onclick='window.open(${save})'>Save</button>
  <button id=late-blob onclick='const tab = window.open(""); fetch("/").then(() => { tab.location = ${save} })'>Save</button>
  <a id=page href=/next target=_blank>Next</a>
  <button id=printed onclick="const tab = window.open(''); tab.document.write('<p>Printed'); tab.location = '/report'">Print</button>`

let homes: Homes
let site: Site
/** Ends the response of /slow. */
let finish = () => {}
let slowRequested: Promise<void>

beforeAll(async () => {
  const report = { 'content-disposition': 'attachment; filename="report.csv"' }
  let requested = () => {}
  slowRequested = new Promise((resolve) => (requested = resolve))
  ;[homes, site] = await Promise.all([
    openHomes(),
    serveSite({
      '/': page,
      '/next': '<title>Next</title>',
      '/report': (_request, response) => response.writeHead(200, report).end('a,b'),
      '/slow': (_request, response) => {
        finish = () => response.writeHead(200, report).end('a,b')
        requested()
      },
    }),
  ])
})
afterAll(async () => {
  await homes.close()
  await site.close()
})

/** Clicks an element of a new session's page; returns the result, the title after it, and the tabs. */
async function click(selector: string) {
  const client = homes.clients.http
  const { session_id } = await client.createSession({ start_url: site.url })
  const { results } = await client.runCommands({
    session_id: session_id!,
    commands: [command('click', { selector }), command('get_title'), command('list_tabs')],
  })
  await client.closeSession({ session_id: session_id! })
  const [clicked, title, tabs] = results
  const value = (result: typeof clicked) => (result!.data!['result'] as { value: unknown }).value
  return { clicked: clicked!, title: value(title), tabs: value(tabs) as { url: string; active: boolean }[] }
}

const completed = (size: number) => [expect.objectContaining({ state: 'completed', size })]

test.each([
  ['#link', 3],
  ['#noopener', 3],
  ['#form', 3],
  ['#window', 3],
  ['#window-noopener', 3],
  ['#blank', 3],
  ['#blob', 5],
  ['#late-blob', 5],
])('a click on %s reports the file, and its page stays the only tab', async (selector, size) => {
  const { clicked, title, tabs } = await click(selector)
  expect(clicked.downloads).toEqual(completed(size))
  if (size === 3) expect(clicked.downloads![0]!.name).toBe('report.csv')
  expect(title).toBe('Reports')
  expect(tabs).toMatchObject([{ url: `${site.url}/`, active: true }])
})

test('a click waits for the response that decides whether the new tab is a download', async () => {
  const clicking = click('#slow')
  await slowRequested
  finish()
  const { clicked, title, tabs } = await clicking
  expect(clicked.downloads).toEqual(completed(3))
  expect(title).toBe('Reports')
  expect(tabs).toHaveLength(1)
})

test('a new tab that shows a page stays, also when it becomes a download later', async () => {
  const next = await click('#page')
  expect(next.clicked.downloads).toBeUndefined()
  expect(next.title).toBe('Next')
  expect(next.tabs).toHaveLength(2)
  const printed = await click('#printed')
  expect(printed.clicked.downloads).toEqual(completed(3))
  expect(printed.tabs).toMatchObject([{ active: false }, { active: true }])
})
