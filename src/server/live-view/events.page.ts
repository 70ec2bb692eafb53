/** The event list of the live view, newest last. Network events are shown only when the filter matches them. */
import type { SessionEvent } from '../../core/events/events.ts'

const maxEvents = 300

/** Returns a function that appends an event. */
export function createEventList(list: HTMLElement, filter: HTMLElement): (event: SessionEvent) => void {
  const input = filter as HTMLInputElement
  const matches = (row: HTMLElement) => {
    const query = input.value.trim().toLowerCase()
    if (query === '') return !row.dataset['type']?.startsWith('network.')
    return row.textContent!.toLowerCase().includes(query)
  }
  input.addEventListener('input', () => {
    for (const row of list.children) (row as HTMLElement).hidden = !matches(row as HTMLElement)
  })
  return (event) => {
    const row = document.createElement('li')
    row.dataset['type'] = event.type
    const type = cellOf(event.type)
    type.className = 'type'
    row.title = JSON.stringify(event.data)
    row.append(cellOf(event.ts.slice(11, 19)), type, cellOf(factsOf(event)))
    row.hidden = !matches(row)
    // Keep the position of a reader who has scrolled up.
    const atEnd = list.scrollTop + list.clientHeight >= list.scrollHeight - 8
    list.append(row)
    if (list.children.length > maxEvents) list.firstElementChild?.remove()
    if (atEnd) list.scrollTop = list.scrollHeight
  }
}

function cellOf(text: string): HTMLElement {
  const cell = document.createElement('span')
  cell.textContent = text
  return cell
}

/** Formats an event as one line for humans. */
function factsOf({ data }: SessionEvent): string {
  const { command, success, error, method, status, level, text, message, url, kind, reason, filename } = data
  const facts = [command, success === false ? error : undefined, method, status, level, kind, reason, filename]
  return [...facts, text ?? message, url].filter((fact) => fact !== undefined && fact !== null).join(' ')
}
