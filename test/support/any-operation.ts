/** Every kind of operation that uses a browser, on a small site, for tests that interrupt them. */
import { json } from 'node:stream/consumers'
import { WebSocket } from 'ws'
import { download, follow, upload } from '../../src/client/client.ts'
import { BaxError } from '../../src/core/errors/errors.ts'
import type { Homes } from './homes.ts'
import { serveSearch } from './search-server.ts'
import { command } from './session-steps.ts'
import { serveSite } from './site.ts'

/** Runs an operation, with a session on `/form`; resolves with its responses. */
export type AnyOperation = (session: { readonly id: string }) => Promise<unknown>

export interface OperationSite {
  readonly url: string
  /** Search settings whose results are pages of the site. */
  readonly search: ReturnType<Awaited<ReturnType<typeof serveSearch>>['config']>
  close(): Promise<void>
}

const words = '<p>Some words of a page that is long enough to be read, with commas, and a full stop.</p>'.repeat(5)
const numbers = [0, 1, 2, 3, 4, 5]
const links = numbers.map((at) => `<a href="/p/${at}">page ${at}</a>`).join(' ')
const page = (title: string) =>
  `<!doctype html><title>${title}</title><main><h1>${title}</h1>${words}${links}</main><script>document.body.append('end')</script>`
const form = `<!doctype html><title>Form</title><h1>Form</h1><input id=name><input id=box type=checkbox>
  <select id=pick><option>one<option>two</select><button id=go onclick="document.title = 'Gone'">Go</button>
  <a id=next href="/next">Next</a><a id=save href="/file" download>Save</a><input id=file type=file>
  <iframe src="/frame"></iframe>${words}`

export async function serveOperationSite(): Promise<OperationSite> {
  const attached = { 'content-disposition': 'attachment; filename="a.txt"' }
  const [search, site] = await Promise.all([
    serveSearch(),
    serveSite({
      '/': page('Home'),
      '/next': page('Next'),
      '/form': form,
      '/frame': '<p>In a frame</p>',
      '/file': (_request, response) => response.writeHead(200, attached).end('text'.repeat(1000)),
      ...Object.fromEntries(numbers.map((at) => [`/p/${at}`, page(`Page ${at}`)])),
    }),
  ])
  search.setResults(numbers.slice(3).map((at) => ({ url: `${site.url}/p/${at}`, title: `${at}`, snippet: 'words' })))
  return {
    url: site.url,
    search: search.config('searxng'),
    close: async () => void (await Promise.all([site.close(), search.close()])),
  }
}

/** Returns the operations by name. */
export function anyOperation(homes: Homes, { url }: OperationSite): Record<string, AnyOperation> {
  const client = homes.clients.http
  const batch =
    (...commands: ReturnType<typeof command>[]): AnyOperation =>
    ({ id }) =>
      client.runCommands({ session_id: id, commands })
  const scrape =
    (path: string, input: Record<string, unknown>): AnyOperation =>
    () =>
      client.scrape({ url: url + path, ...input } as never)
  const file = (name: string, id: string) => ({ session_id: id, name })
  return {
    navigate: batch(command('navigate_to', { url: `${url}/next` }), command('go_back'), command('refresh')),
    click: batch(command('click', { selector: '#go' }), command('click', { selector: '#next' })),
    type: batch(
      command('type_text', { selector: '#name', text: 'hello' }),
      command('select_option', { selector: '#pick', values: ['two'] }),
      command('check', { selector: '#box' }),
      command('press_key', { selector: '#name', key: 'Enter' }),
    ),
    point: batch(
      command('hover', { selector: '#go' }),
      command('drag_to', { selector: '#go', target_selector: '#next' }),
    ),
    evaluate: batch(
      command('evaluate', { expression: 'new Promise((done) => setTimeout(done, 100))' }),
      command('evaluate_on_element', { selector: '#go', expression: 'this.id' }),
    ),
    wait: batch(command('wait_for_element', { selector: '#late', timeout_ms: 300 })),
    read: batch(
      command('get_content', { kind: 'markdown' }),
      command('find_text', { text: 'words' }),
      command('inspect_element', { selector: '#go' }),
      command('extract_structured_content', { query: 'words' }),
      command('capture_state'),
      command('get_vitals'),
    ),
    screenshot: batch(command('screenshot', { full_page: true }), command('element_screenshot', { selector: '#go' })),
    pdf: batch(command('print_to_pdf')),
    overlay: batch(
      command('toggle_bounding_boxes', { enabled: true }),
      command('toggle_bounding_boxes', { enabled: false }),
    ),
    tabs: batch(command('new_tab', { url: `${url}/next` }), command('list_tabs'), command('close_tab')),
    storage: batch(
      command('set_cookie', { name: 'a', value: 'b' }),
      command('set_local_storage', { items: [{ key: 'a', value: '1' }] }),
      command('write_clipboard', { text: 'x' }),
      command('read_clipboard'),
    ),
    control: batch(
      command('add_route', { url: '**/p/*', abort: true }),
      command('emulate', { color_scheme: 'dark' }),
      command('add_init_script', { script: '1' }),
      command('set_viewport', { width: 800, height: 600 }),
    ),
    media: batch(
      command('start_har'),
      command('start_video'),
      command('navigate_to', { url: `${url}/next` }),
      command('stop_video'),
      command('stop_har'),
    ),
    observe: ({ id }) =>
      client.observe({ session_id: id, include: ['snapshot', 'screenshot', 'text', 'storage'] } as never),
    step: ({ id }) =>
      client.browserStep({ session_id: id, ...command('click', { selector: '#go' }), diff: true } as never),
    cdp: ({ id }) =>
      client.cdp({
        session_id: id,
        method: 'Runtime.evaluate',
        params: { expression: 'new Promise((done) => setTimeout(done, 100))', awaitPromise: true },
      }),
    scrape: scrape('/', { render: 'http' }),
    render: scrape('/', { render: 'browser', formats: ['markdown', 'rawHtml', 'links'] }),
    'render with actions': scrape('/form', {
      render: 'browser',
      formats: ['screenshot', 'branding'],
      actions: [
        { type: 'write', text: 'x' },
        { type: 'click', selector: '#go' },
        { type: 'execute', script: '1' },
      ],
    }),
    'render one host': scrape('/', { render: 'browser', allowed_domains: ['127.0.0.1'] }),
    'scrape with json': scrape('/', { formats: ['markdown', 'json', 'summary'] }),
    crawl: () => client.crawl({ url: `${url}/`, render: 'browser' }),
    map: () => client.map({ url: `${url}/` } as never),
    extract: () =>
      client.extract({
        urls: [`${url}/`],
        schema: { type: 'object', properties: { title: { type: 'string' } } },
      } as never),
    search: () => client.search({ query: 'words', formats: ['markdown'], render: 'browser' } as never),
    'search in tabs': ({ id }) => client.search({ query: 'words', formats: ['markdown'], session_id: id } as never),
    download: ({ id }) =>
      all(
        () => batch(command('click', { selector: '#save' }))({ id }),
        () => received(download(homes.transports.http, 'GET /sessions/{session_id}/files/{name}', file('a.txt', id))),
      ),
    upload: ({ id }) =>
      all(
        () => upload(homes.transports.http, 'PUT /sessions/{session_id}/files/{name}', file('b.txt', id), someBytes()),
        () => batch(command('upload_files', { selector: '#file', files: ['b.txt'] }))({ id }),
      ),
    create: () =>
      all(async () => {
        const made = await client.createSession({ start_url: `${url}/form`, locale: 'de' } as never)
        return [made, made.session_id && (await client.closeSession({ session_id: made.session_id }))]
      }),
    lookup: ({ id }) =>
      all(
        () => client.getSession({ session_id: id }),
        () => client.listSessions({}),
      ),
    profile: ({ id }) =>
      all(async () => {
        const { profile_id } = await client.saveProfile({ name: `saved ${Math.random()}`, session_id: id })
        return profile_id && client.deleteProfile({ profile_id })
      }),
    recording: ({ id }) =>
      all(
        () => client.recordSession({ session_id: id, action: 'start' }),
        () => client.recordSession({ session_id: id, action: 'stop' }),
      ),
    trace: ({ id }) =>
      all(
        () => client.traceSession({ session_id: id, action: 'start' }),
        () => client.traceSession({ session_id: id, action: 'stop' }),
      ),
    'live view': async ({ id }) => {
      const { token } = await client.linkLiveView({ session_id: id, control: true })
      return liveView(`${homes.baseUrl.replace('http', 'ws')}/sessions/${id}/live`, token, `${url}/next`)
    },
    events: ({ id }) =>
      all(
        () => batch(command('navigate_to', { url: `${url}/next` }))({ id }),
        () => nextFrames(homes, id),
      ),
  }
}

/** Runs the steps in order, and returns their responses, also those of failed ones. */
async function all(...steps: (() => Promise<unknown>)[]): Promise<unknown[]> {
  const answers: unknown[] = []
  for (const step of steps) {
    answers.push(
      await step().catch((error: unknown) => {
        if (error instanceof BaxError) return error.toBody()
        throw error
      }),
    )
  }
  return answers
}

async function* someBytes(): AsyncGenerator<Uint8Array> {
  yield Buffer.from('some bytes')
}

async function received(answer: ReturnType<typeof download>): Promise<void> {
  for await (const _ of (await answer).bytes);
}

/** Takes control of a session in its live view, sends input, and returns the messages. */
async function liveView(address: string, token: string, url: string): Promise<unknown[]> {
  const socket = new WebSocket(address, ['bax.live.v1', `bax.bearer.${token}`])
  const messages: { type?: string; event?: { type: string }; holder?: string }[] = []
  const mouse = { action: 'move', x: 5, y: 5, button: 'left', modifiers: 0, buttons: 0, clicks: 0 }
  socket.on('error', () => {
    // It also closes.
  })
  socket.on('open', () => socket.send('{"type":"take"}'))
  socket.on('message', (data, isBinary) => {
    if (isBinary) return
    const message = JSON.parse(String(data)) as (typeof messages)[number]
    messages.push(message)
    if (message.holder === 'you')
      for (const input of [
        { type: 'mouse', ...mouse },
        { type: 'text', text: 'a' },
        { type: 'navigate', url },
      ])
        socket.send(JSON.stringify(input))
    if (message.type === 'error' || message.event?.type === 'page.loaded') socket.close()
  })
  // The session may have ended already.
  socket.on('unexpected-response', (request, response) => {
    void json(response).then((body) => {
      messages.push(body as (typeof messages)[number])
      request.destroy()
      socket.terminate()
    })
  })
  const timer = setTimeout(() => socket.close(), 2000)
  // Not `once`, which an error before the close would reject.
  await new Promise((resolve) => socket.on('close', resolve))
  clearTimeout(timer)
  return messages
}

/** Returns the buffered events of a session. */
async function nextFrames(homes: Homes, session_id: string): Promise<unknown[]> {
  const frames: unknown[] = []
  for await (const frame of follow(homes.transports.http, 'GET /stream/sse', { session_id, replay: 'all' })) {
    frames.push(frame)
    if (frame.type === 'command.finished' || frame.type === 'session.closed') break
  }
  return frames
}
