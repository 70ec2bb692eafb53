/** The demo's single-page application: a list of tasks that is drawn by a script from JSON. */
import { Hono } from 'hono'
import { html, raw } from 'hono/html'
import { page } from './layout.ts'

interface Task {
  readonly id: number
  title: string
  done: boolean
}

/** Most tasks; further ones are refused. */
const most = 200

const script = raw(`<script>
const view = document.querySelector('#view')
const make = (name, properties, ...children) => {
  const element = Object.assign(document.createElement(name), properties)
  element.append(...children)
  return element
}
const call = async (path, method, body) => {
  const response = await fetch('/app/api/tasks' + path, { method, headers: { 'content-type': 'application/json' }, body: body && JSON.stringify(body) })
  if (!response.ok) throw new Error((await response.json()).error)
  return response.json()
}
const go = (path) => { history.pushState(null, '', path); return draw() }
const report = (error) => { document.querySelector('#notice').textContent = error.message }
async function draw() {
  document.querySelector('#notice').textContent = ''
  const id = /^\\/app\\/tasks\\/(\\d+)$/.exec(location.pathname)?.[1]
  const tasks = await call('', 'GET')
  if (id) {
    const task = tasks.find((one) => String(one.id) === id)
    const back = make('button', { textContent: 'All tasks', onclick: () => go('/app').catch(report) })
    if (!task) return view.replaceChildren(make('h2', { textContent: 'There is no such task' }), back)
    const remove = make('button', { textContent: 'Delete', onclick: () => call('/' + id, 'DELETE').then(() => go('/app')).catch(report) })
    return view.replaceChildren(make('h2', { textContent: task.title }), make('p', { textContent: task.done ? 'Done' : 'Open' }), remove, ' ', back)
  }
  const rows = tasks.map((task) => {
    const box = make('input', { type: 'checkbox', checked: task.done, ariaLabel: task.title, onchange: () => call('/' + task.id, 'PATCH', { done: box.checked }).then(draw).catch(report) })
    const link = make('a', { href: '/app/tasks/' + task.id, textContent: task.title, onclick: (event) => { event.preventDefault(); go(link.href).catch(report) } })
    return make('li', {}, box, ' ', link)
  })
  const field = make('input', { name: 'title', required: true, maxLength: 80, ariaLabel: 'New task' })
  const form = make('form', { onsubmit: (event) => { event.preventDefault(); call('', 'POST', { title: field.value }).then(draw).catch(report) } }, field, ' ', make('button', { textContent: 'Add' }))
  view.replaceChildren(form, make('ul', {}, ...rows), make('p', { role: 'status', textContent: tasks.filter((one) => !one.done).length + ' open' }))
}
addEventListener('popstate', () => draw().catch(report))
draw().catch(report)
</script>`)

const shell = page(
  'Tasks',
  html`<h1>Tasks</h1>
    <p id="notice" role="alert"></p>
    <div id="view">Loading…</div>
    ${script}`,
)

export function tasksApp(): Hono {
  let tasks: Task[] = ['Order Sencha', 'Clean the iron kettle', 'Call the customer of order 7'].map((title, at) => ({
    id: at + 1,
    title,
    done: at === 1,
  }))
  let last = tasks.length
  const app = new Hono()
  app.get('/', (context) => context.html(shell))
  app.get('/tasks/:id', (context) => context.html(shell))
  app.get('/api/tasks', (context) => context.json(tasks))
  app.post('/api/tasks', async (context) => {
    const body: unknown = await context.req.json().catch(() => null)
    const title = String((body as { title?: unknown } | null)?.title ?? '').trim()
    if (!title || title.length > 80) return context.json({ error: 'A title needs 1 to 80 letters.' }, 422)
    if (tasks.length >= most) return context.json({ error: `There are ${most} tasks already.` }, 409)
    const task = { id: ++last, title, done: false }
    tasks.push(task)
    return context.json(task, 201)
  })
  app.patch('/api/tasks/:id', async (context) => {
    const task = tasks.find(({ id }) => String(id) === context.req.param('id'))
    const body: unknown = await context.req.json().catch(() => null)
    const done = (body as { done?: unknown } | null)?.done
    if (!task) return context.json({ error: 'There is no such task.' }, 404)
    if (typeof done !== 'boolean') return context.json({ error: 'done must be true or false.' }, 422)
    task.done = done
    return context.json(task)
  })
  app.delete('/api/tasks/:id', (context) => {
    const task = tasks.find(({ id }) => String(id) === context.req.param('id'))
    if (!task) return context.json({ error: 'There is no such task.' }, 404)
    tasks = tasks.filter((one) => one !== task)
    return context.json(task)
  })
  return app
}
