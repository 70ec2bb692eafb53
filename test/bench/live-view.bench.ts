/** Cost of the live view for its session, and its frame rate. */
import { memoryLink } from '../support/memory-link.ts'
import { serveSite } from '../support/site.ts'
import { call, openSides } from './engines.ts'
import { inTurn, ms, ratio, type Table } from './measure.ts'

/** Changes with every painted frame. */
const changing = `<!doctype html><title>Changing</title><style>div { width: 300px; height: 300px; background: teal }</style>
<h1>0</h1><div></div><button onclick="this.textContent++">0</button>
<script>const step = (at) => {
  document.querySelector('h1').textContent = at.toFixed()
  document.querySelector('div').style.transform = 'translateX(' + (at / 5) % 700 + 'px)'
  requestAnimationFrame(step)
}
requestAnimationFrame(step)</script>`

const commands = ['get_title', 'click', 'get_text', 'evaluate', 'click', 'get_text', 'hover', 'get_title'].map(
  (command) => ({
    command,
    data: { get_title: {}, evaluate: { expression: '6 * 7' } }[command] ?? { selector: 'button' },
  }),
)

export async function measure(): Promise<Table[]> {
  const site = await serveSite({ '/': changing })
  const side = await openSides()
  try {
    const watched = await side.createSession()
    const alone = await side.createSession()
    const run = (session_id: string, batch: readonly object[]) =>
      side.engine.sessions.runCommands({ session_id, commands: batch as never }, call)
    for (const id of [watched, alone]) await run(id, [{ command: 'navigate_to', data: { url: site.url } }])
    const { token } = await side.engine.sessions.linkLiveView(watched, false, {
      ...call,
      socketBaseUrl: 'http://localhost',
    })
    const show = await side.engine.sessions.openLiveView(watched, token, call)
    const [near, far] = memoryLink()
    let frames = 0
    near.handle({ onText: () => {}, onBytes: () => (frames += 1), onClose: () => {} })
    show(far)
    const start = performance.now()
    const times = await inTurn({ watched: () => run(watched, commands), alone: () => run(alone, commands) }, 40)
    const rate = frames / ((performance.now() - start) / 1000)
    near.close(1000, '')
    return [
      {
        title: 'Live view of a page that changes all the time',
        columns: ['watched', 'not watched', 'ratio'],
        note: 'Milliseconds, median (quartiles); eight commands in a batch, on two sessions in turn; both pages change all the time.',
        rows: [
          {
            name: 'the session’s own commands (at most 1.2x)',
            cells: [ms(times['watched']!), ms(times['alone']!), ratio(times['watched']!, times['alone']!)],
          },
          { name: 'pictures a second (at least 10)', cells: [rate.toFixed(1), '', ''] },
        ],
      },
    ]
  } finally {
    await side.close()
    await site.close()
  }
}
