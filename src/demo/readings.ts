/** The demo's table: readings on several pages, which can be sorted and filtered. */
import { Hono } from 'hono'
import { html } from 'hono/html'
import { page } from './layout.ts'

interface Reading {
  readonly number: number
  readonly day: string
  readonly room: string
  readonly degrees: number
  readonly cups: number
}

const rooms = ['Garden', 'Kitchen', 'Library', 'Terrace'] as const
export const perPage = 25

/** The same on every start. */
export const readings: readonly Reading[] = Array.from({ length: 500 }, (_, at) => ({
  number: at + 1,
  day: new Date(Date.UTC(2026, 0, 1 + Math.floor(at / rooms.length))).toISOString().slice(0, 10),
  room: rooms[at % rooms.length]!,
  degrees: 60 + ((at * 37) % 400) / 10,
  cups: (at * 13) % 90,
}))

const columns = { number: 'No.', day: 'Day', room: 'Room', degrees: 'Degrees', cups: 'Cups' } as const
type Column = keyof typeof columns
const isColumn = (name: string | undefined): name is Column => name !== undefined && Object.hasOwn(columns, name)

function sorted(rows: readonly Reading[], by: Column): readonly Reading[] {
  const compare = (a: Reading, b: Reading) => (a[by] < b[by] ? -1 : a[by] > b[by] ? 1 : a.number - b.number)
  return rows.toSorted(compare)
}

export function readingsTable(): Hono {
  const app = new Hono()
  app.get('/', (context) => {
    const { room, sort } = context.req.query()
    const by = isColumn(sort) ? sort : 'number'
    const rows = sorted(
      readings.filter((one) => !room || one.room === room),
      by,
    )
    const last = Math.max(1, Math.ceil(rows.length / perPage))
    const at = Math.min(last, Math.max(1, Math.trunc(Number(context.req.query('page'))) || 1))
    const link = (changed: Record<string, string>) =>
      `/readings?${new URLSearchParams({ ...(room && { room }), sort: by, page: '1', ...changed })}`
    const shown = rows.slice((at - 1) * perPage, at * perPage)
    const body = html`<h1>Readings</h1>
      <form>
        <label
          >Room
          <select name="room">
            <option value="">All</option>
            ${rooms.map((one) => html`<option ${one === room ? 'selected' : ''}>${one}</option>`)}
          </select></label
        >
        <input type="hidden" name="sort" value="${by}" /><button>Show</button>
      </form>
      <p>${rows.length} readings, page ${at} of ${last}</p>
      <table>
        <thead>
          <tr>
            ${Object.entries(columns).map(([name, label]) => html`<th><a href="${link({ sort: name })}">${label}</a></th>`)}
          </tr>
        </thead>
        <tbody>
          ${shown.map(
            (row) =>
              html`<tr>
                <td>${row.number}</td>
                <td>${row.day}</td>
                <td>${row.room}</td>
                <td>${row.degrees.toFixed(1)}</td>
                <td>${row.cups}</td>
              </tr>`,
          )}
        </tbody>
      </table>
      <nav aria-label="Pages">
        ${at > 1 ? html`<a rel="prev" href="${link({ page: String(at - 1) })}">Previous</a> ` : ''}${at < last ? html`<a rel="next" href="${link({ page: String(at + 1) })}">Next</a>` : ''}
      </nav>`
    return context.html(page('Readings', body))
  })
  return app
}
