/** Runs in the summary of a crawl: searches, filters and sorts its table. */
const body = document.querySelector<HTMLTableSectionElement>('#rows tbody')!
const search = document.querySelector<HTMLInputElement>('#search')!
const kind = document.querySelector<HTMLSelectElement>('#kind')!
const found = document.querySelector('#found')!
const headings = [...document.querySelectorAll<HTMLTableCellElement>('#rows th')]
const more = document.querySelector<HTMLButtonElement>('#more')!
/** Rows that are laid out at first, and for each request for more: the layout of thousands takes seconds. */
const atOnce = 500
let most = atOnce
/** In the order of the table. */
let rows = [...body.rows].map((row, at) => ({ row, at, text: row.textContent!.toLowerCase() }))

function draw(): void {
  const words = search.value.trim().toLowerCase()
  let matches = 0
  for (const { row, text } of rows) {
    const isMatch = text.includes(words) && (kind.value === '' || row.className === kind.value)
    if (isMatch) matches += 1
    row.hidden = !isMatch || matches > most
  }
  found.textContent = matches === rows.length ? `${matches} URLs` : `${matches} of ${rows.length} URLs`
  more.hidden = matches <= most
  more.textContent = `Show more (${Math.max(0, matches - most)})`
}

function filter(): void {
  most = atOnce
  draw()
}

type Order = 'ascending' | 'descending'

/** Sorts by a column; without an order, as crawled. */
function sort(column: number, order: Order | undefined): void {
  for (const [at, heading] of headings.entries()) {
    if (at === column && order) heading.setAttribute('aria-sort', order)
    else heading.removeAttribute('aria-sort')
  }
  const keys = new Map(rows.map(({ row }) => [row, keyOf(row.cells[column]!)]))
  rows = rows.toSorted((a, b) => {
    const by = order ? compare(keys.get(a.row)!, keys.get(b.row)!) : 0
    return (order === 'descending' ? -by : by) || a.at - b.at
  })
  const fragment = document.createDocumentFragment()
  for (const { row } of rows) fragment.append(row)
  filter()
  body.append(fragment)
}

const keyOf = ({ dataset, textContent }: HTMLTableCellElement): string => dataset['ms'] ?? textContent!

/** Compares numbers as numbers. Rows without a value come first. */
function compare(a: string, b: string): number {
  if (a === '' || b === '') return a.length - b.length
  const difference = Number(a) - Number(b)
  return Number.isNaN(difference) ? (a < b ? -1 : a > b ? 1 : 0) : difference
}

for (const [column, heading] of headings.entries()) {
  const button = document.createElement('button')
  button.type = 'button'
  button.textContent = heading.textContent
  heading.replaceChildren(button)
  button.addEventListener('click', () => {
    const order = heading.getAttribute('aria-sort')
    sort(column, order === null ? 'ascending' : order === 'ascending' ? 'descending' : undefined)
  })
}
search.addEventListener('input', filter)
kind.addEventListener('change', filter)
more.addEventListener('click', () => {
  most += atOnce
  draw()
})
addEventListener('keydown', (event) => {
  const { target, key, ctrlKey, metaKey, altKey } = event
  if (key !== '/' || target === search || ctrlKey || metaKey || altKey) return
  event.preventDefault()
  search.focus()
})
filter()
document.body.classList.add('scripted')
