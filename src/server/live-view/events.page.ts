/** The list of a session's events: the newest last, those of the network only when they are asked for. */
import type { SessionEvent } from '../../core/events/events.ts'

const kept = 300

/** Returns what adds one. */
export function keepEvents(list: HTMLElement, filter: HTMLElement): (event: SessionEvent) => void {
  const input = filter as HTMLInputElement
  const fits = (row: HTMLElement) => {
    const wanted = input.value.trim().toLowerCase()
    if (wanted === '') return !row.dataset['type']!.startsWith('network.')
    return row.textContent!.toLowerCase().includes(wanted)
  }
  input.addEventListener('input', () => {
    for (const row of list.children) (row as HTMLElement).hidden = !fits(row as HTMLElement)
  })
  return (event) => {
    const row = document.createElement('li')
    row.dataset['type'] = event.type
    const [time, type, what] = [event.ts.slice(11, 19), event.type, factsOf(event)].map((text) => {
      const cell = document.createElement('span')
      cell.textContent = text
      return cell
    })
    type!.className = 'type'
    row.title = JSON.stringify(event.data)
    row.append(time!, type!, what!)
    row.hidden = !fits(row)
    // Who reads further up is left there.
    const atEnd = list.scrollTop + list.clientHeight >= list.scrollHeight - 8
    list.append(row)
    if (list.children.length > kept) list.firstElementChild!.remove()
    if (atEnd) list.scrollTop = list.scrollHeight
  }
}

/** What a person wants to know of an event, in one line. */
function factsOf({ data }: SessionEvent): string {
  const { command, success, error, method, status, level, text, message, url, kind, reason, filename } = data
  const facts = [command, success === false ? error : undefined, method, status, level, kind, reason, filename]
  return [...facts, text ?? message, url].filter((fact) => fact !== undefined && fact !== null).join(' ')
}
