// Drives the page of an account over CDP with Playwright or Puppeteer, in a process, and a network, of its own:
// node drive-page.mjs <playwright|file of puppeteer-core> <websocket address> <who clicks>
import { createRequire } from 'node:module'

const [library, address, who] = process.argv.slice(2)
const require = createRequire(import.meta.url)

async function connect() {
  if (library === 'playwright') {
    const browser = await require('playwright').chromium.connectOverCDP(address)
    return { pages: () => browser.contexts()[0].pages(), end: () => browser.close() }
  }
  const { default: puppeteer } = await import(library)
  const browser = await puppeteer.connect({ browserWSEndpoint: address, defaultViewport: null })
  return { pages: () => browser.pages(), end: () => browser.disconnect() }
}

const { pages, end } = await connect()
const page = (await pages()).find((one) => one.url().endsWith('/account'))
const greeting = await page.$eval('h1', (heading) => heading.textContent)
// Clients of one tab share its mouse: a press of another in between makes a click none, as two hands on one mouse would.
while ((await page.$eval(`#${who}`, (button) => button.textContent)) !== '5') await page.click(`#${who}`)
await end()
process.stdout.write(`${JSON.stringify({ greeting })}\n`)
