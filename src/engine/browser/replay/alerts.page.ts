/** Runs in a page: reads the messages that it shows. */
import { allElements, isShown, shortText } from '../elements/describe.page.ts'

const [mostElements, mostAlerts, alertChars] = [20_000, 50, 200]

const liveRegions = '[role=alert], [role=alertdialog], [role=status], output, [aria-live=assertive], [aria-live=polite]'

/** Returns the texts of alerts and other live regions, and the messages of fields that the page marks as invalid. */
export function shownAlerts(): string[] {
  const texts = new Set<string>()
  const add = (element: Element | null) => {
    const text = element && isShown(element) ? shortText(element, alertChars) : ''
    if (text !== '') texts.add(text)
  }
  for (const element of allElements(document, mostElements)) {
    if (texts.size >= mostAlerts) break
    if (element.matches(liveRegions)) add(element)
    if (element.getAttribute('aria-invalid') !== 'true') continue
    const ids = element.getAttribute('aria-errormessage') ?? element.getAttribute('aria-describedby') ?? ''
    const root = element.getRootNode() as Document | ShadowRoot
    for (const id of ids.split(/\s+/)) add(root.getElementById(id))
  }
  return [...texts].slice(0, mostAlerts)
}
