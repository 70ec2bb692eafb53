/** Three tasks as the same intentions for every server: edit a page, find a fact in a manual, turn a listing into JSON. */
import { part, type Recorder } from './recorder.ts'

export interface Sites {
  /** DokuWiki; absent if it cannot be started here. */
  readonly wiki?: { readonly url: string; readonly user: string; readonly password: string }
  /** Python's manual, of some 500 pages; absent if it is not installed. */
  readonly manual?: string
  readonly listing: string
}

/** Names in the listing. */
export const products = Array.from({ length: 30 }, (_, at) => `Tea number ${at + 1}`)

/** Sentence that the first task writes; it must be on the page afterwards. */
const sentence = 'Zebras have stripes.'

/** Answer of the second task: the signature that contains the words of the search. A response may repeat the words. */
const fact = /maxsize=128[^]{0,200}?typed=False/

const schema = {
  type: 'array',
  items: { type: 'object', properties: { name: { type: 'string' }, price: { type: 'string' } } },
}

/** Reads the listing in the page. */
const script =
  "() => [...document.querySelectorAll('li.product')].map((item) => ({ name: item.querySelector('a').textContent, price: item.querySelector('b').textContent }))"

/** Reads the passage of the manual in the page. */
const passage = '() => document.body.textContent.match(/[^]{0,200}maxsize=128[^]{0,200}/)[0]'

function check(text: string, wanted: string | RegExp): void {
  if (typeof wanted === 'string' ? !text.includes(wanted) : !wanted.test(text))
    throw new Error(`${wanted} is missing in ${text.slice(0, 1000)}`)
}

const checkListing = (text: string) => products.forEach((name) => check(text, name))

export interface Tasks {
  /** Logs in, opens the editor of a page, writes a sentence, saves, and confirms that it is there. */
  edit?(recorder: Recorder, wiki: NonNullable<Sites['wiki']>): Promise<void>
  /** Finds the right page of the manual, and in it the passage. */
  find(recorder: Recorder, manual: string): Promise<void>
  /** Opens a listing, and returns its entries as JSON. */
  list(recorder: Recorder, url: string): Promise<void>
}

const editor = (url: string) => `${url}/doku.php?id=zebra&do=edit`
const login = (url: string) => `${url}/doku.php?do=login`

export const bax: Tasks = {
  async edit(recorder, { url, user, password }) {
    const form = await recorder.call('browser_open', { url: login(url) })
    const [name, secret, submit] = [
      /textbox "Username"[^\n]*\[ref=(e\d+)\]/,
      /textbox "Password"[^\n]*\[ref=(e\d+)\]/,
      /button "Log In"[^\n]*\[ref=(e\d+)\]/,
    ].map((one) => part(form, one))
    await recorder.call('browser_act', {
      commands: [`fill @${name} ${user}`, `fill @${secret} ${password}`, `click @${submit}`],
    })
    const page = await recorder.call('browser_open', { url: editor(url) })
    const [text, save] = [
      /textbox[^\n]*\[ref=(e\d+)\][^\n]*\n(?:(?!textbox)[\s\S])*?button "Save"/,
      /button "Save"[^\n]*\[ref=(e\d+)\]/,
    ].map((one) => part(page, one))
    await recorder.call('browser_act', { commands: [`fill @${text} "${sentence}"`, `click @${save}`] })
    check(await recorder.call('browser_observe', { find: sentence }), sentence)
  },
  async find(recorder, manual) {
    const links = await recorder.call('web_map', { url: `${manual}/contents.html`, search: 'functools' })
    const url = part(links, /(http\S+functools\.html)/)
    check(await recorder.call('web_scrape', { url, find: 'maxsize=128' }), fact)
  },
  async list(recorder, url) {
    checkListing(await recorder.call('web_scrape', { url, schema }))
  },
}

/** The same tasks of `bax mcp` by an agent that writes code, for which it reads the form of the login first. */
export const baxCode: Tasks = {
  async edit(recorder, { url, user, password }) {
    check(await recorder.call('browser_open', { url: login(url), interactive_only: true }), 'Username')
    const code = `
      await bax.fill_form({ Username: '${user}', Password: '${password}' })
      await bax.click('role=button[name="Log In"]')
      await bax.navigate_to('${editor(url)}')
      await bax.fill('textarea', '${sentence}')
      await bax.click('role=button[name="Save"]')
      return await bax.get_text('text=${sentence}')`
    check(await recorder.call('browser_code', { code }), sentence)
  },
  async find(recorder, manual) {
    const code = `
      const { links } = await bax.map({ url: '${manual}/contents.html', search: 'functools' })
      const { data } = await bax.scrape({ url: links.find((url) => url.endsWith('functools.html')), formats: ['markdown'] })
      return data.markdown.match(/[^]{0,200}maxsize=128[^]{0,200}/)[0]`
    check(await recorder.call('browser_code', { code }), fact)
  },
  async list(recorder, url) {
    const code = `
      const { data } = await bax.scrape({ url: '${url}', formats: ['json'], json_options: { schema: ${JSON.stringify(schema)} } })
      return data.json.map(({ name, price }) => name + ': ' + price).join('\\n')`
    checkListing(await recorder.call('browser_code', { code }))
  },
}

/** Returns the snapshot of a response; this version writes it to a file, from where the agent has to read it. */
const snapshotIn = (recorder: Recorder, text: string) =>
  /\[ref=/.test(text) ? text : recorder.call('browser_snapshot', {})

export const playwright: Tasks = {
  async edit(recorder, { url, user, password }) {
    const form = await snapshotIn(recorder, await recorder.call('browser_navigate', { url: login(url) }))
    const [name, secret, submit] = [
      /textbox "Username"[^\n]*?\[ref=(\w+)\]/,
      /textbox "Password"[^\n]*?\[ref=(\w+)\]/,
      /button "Log In"[^\n]*?\[ref=(\w+)\]/,
    ].map((one) => part(form, one))
    const field = (target: string | undefined, value: string, label: string) => ({
      target,
      value,
      name: label,
      element: label,
      type: 'textbox',
    })
    await recorder.call('browser_fill_form', {
      fields: [field(name, user, 'Username'), field(secret, password, 'Password')],
    })
    await recorder.call('browser_click', { element: 'Log In', target: submit })
    const page = await snapshotIn(recorder, await recorder.call('browser_navigate', { url: editor(url) }))
    const [text, save] = [
      /textbox[^\n]*?\[ref=(\w+)\][^\n]*\n(?:(?!textbox)[\s\S])*?button "Save"/,
      /button "Save"[^\n]*?\[ref=(\w+)\]/,
    ].map((one) => part(page, one))
    await recorder.call('browser_type', { element: 'Text', target: text, text: sentence })
    await recorder.call('browser_click', { element: 'Save', target: save })
    check(await recorder.call('browser_find', { text: sentence }), sentence)
  },
  async find(recorder, manual) {
    await recorder.call('browser_navigate', { url: `${manual}/contents.html` })
    const found = await recorder.call('browser_find', { text: 'Higher-order functions and operations' })
    await recorder.call('browser_click', {
      element: 'functools',
      target: part(found, /link \[ref=(\w+)\][^\n]*\n[^\n]*functools\.html/),
    })
    check(await recorder.call('browser_evaluate', { function: passage }), fact)
  },
  async list(recorder, url) {
    await recorder.call('browser_navigate', { url })
    checkListing(await recorder.call('browser_evaluate', { function: script }))
  },
}

/** Opens a tab in chrome-devtools-mcp; returns its number, which every other call takes. */
const openTab = async (recorder: Recorder, url: string) =>
  Number(part(await recorder.call('new_page', { url }), /(\d+): [^\n]*\[selected\]/))

export const devtools: Tasks = {
  async edit(recorder, { url, user, password }) {
    const pageId = await openTab(recorder, login(url))
    const form = await recorder.call('take_snapshot', { pageId })
    const [name, secret, submit] = [
      /uid=(\w+) textbox "Username"/,
      /uid=(\w+) textbox "Password"/,
      /uid=(\w+) button "Log In"/,
    ].map((one) => part(form, one))
    await recorder.call('fill_form', {
      pageId,
      elements: [
        { uid: name, value: user },
        { uid: secret, value: password },
      ],
    })
    await recorder.call('click', { pageId, uid: submit })
    await recorder.call('navigate_page', { pageId, url: editor(url) })
    const page = await recorder.call('take_snapshot', { pageId })
    const [text, save] = [/uid=(\w+) textbox[^\n]*multiline/, /uid=(\w+) button "Save"/].map((one) => part(page, one))
    await recorder.call('fill', { pageId, uid: text, value: sentence })
    await recorder.call('click', { pageId, uid: save })
    check(await recorder.call('wait_for', { pageId, text: [sentence] }), sentence)
  },
  async find(recorder, manual) {
    const pageId = await openTab(recorder, `${manual}/contents.html`)
    const link = "() => [...document.links].find((one) => one.textContent.startsWith('functools — ')).href"
    const url = part(await recorder.call('evaluate_script', { pageId, function: link }), /"(http[^"#]+)/)
    await recorder.call('navigate_page', { pageId, url })
    check(await recorder.call('evaluate_script', { pageId, function: passage }), fact)
  },
  async list(recorder, url) {
    const pageId = await openTab(recorder, url)
    await recorder.call('take_snapshot', { pageId })
    checkListing(await recorder.call('evaluate_script', { pageId, function: script }))
  },
}

export const firecrawl: Tasks = {
  async find(recorder, manual) {
    const links = await recorder.call('firecrawl_map', { url: `${manual}/contents.html`, search: 'functools' })
    const url = part(links, /"(http[^"]+functools\.html)"/)
    check(await recorder.call('firecrawl_scrape', { url, formats: ['markdown'], onlyMainContent: true }), fact)
  },
  async list(recorder, url) {
    checkListing(await recorder.call('firecrawl_scrape', { url, formats: ['json'], jsonOptions: { schema } }))
  },
}
