/**
 * Runs in a page: recognizes lists of options that are no select elements, after the ARIA Authoring Practices
 * (https://www.w3.org/WAI/ARIA/apg/patterns/), and finds their options.
 * All functions are self-contained: only their text reaches the page.
 */

/** Returns the visible elements, for a comparison after a list was opened; waits for one that is still closing. */
export async function visibleNow(node: Element): Promise<Set<Element>> {
  const root = node.ownerDocument
  const ending = root.getAnimations().filter((one) => Number.isFinite(one.effect?.getComputedTiming().endTime))
  const ended = Promise.allSettled(ending.map((one) => one.finished))
  await Promise.race([ended, new Promise((resolve) => setTimeout(resolve, 1000))])
  const isVisible = (element: Element) => element.checkVisibility({ visibilityProperty: true })
  return new Set([...root.querySelectorAll('*')].filter(isVisible))
}

/** Returns whether one of these elements is not visible any more. */
export function isAnyGone(elements: Set<Element>): boolean {
  return [...elements].some((element) => !element.checkVisibility({ visibilityProperty: true }))
}

/** Returns what a click on a combobox, or on the field around it, reaches; null if both are covered. */
export function partInReach(node: Element, block: ScrollLogicalPosition): Element | null {
  // A person leaves the field before, which closes its suggestions.
  const active = document.activeElement
  if (active instanceof HTMLInputElement && !node.contains(active)) active.blur()
  node.scrollIntoView({ block, inline: 'nearest', behavior: 'instant' })
  const root = node.getRootNode() as Document | ShadowRoot
  const isOther = (field: Element) => !node.contains(field) && field.checkVisibility()
  for (let at: Element | null = node, level = 0; at && level < 4; at = at.parentElement, level += 1) {
    // The field ends where others begin.
    if (at === document.body || [...at.querySelectorAll('input, select, textarea, [role=combobox]')].some(isOther))
      break
    const { x, y, width, height } = at.getBoundingClientRect()
    const found = root.elementFromPoint(x + width / 2, y + height / 2)
    if (width > 1 && height > 1 && found && at.contains(found)) return found
  }
  return null
}

export interface OptionQuery {
  readonly value: string
  readonly before: Set<Element> | null
}

export interface FoundOptions {
  /** The visible option with this name. */
  readonly option: Element | null
  readonly name: string
  readonly isDisabled: boolean
  /** An option that is drawn. */
  readonly any: Element | null
  /** Names of the visible options. */
  readonly names: readonly string[]
}

/** Finds the option with a name: in the list itself, in the list that a widget controls, or in what has just opened. */
export function findOption(widget: Element, { value, before }: OptionQuery): FoundOptions {
  const roles = ['option', 'radio', 'tab', 'menuitem', 'menuitemradio', 'menuitemcheckbox', 'treeitem', 'gridcell']
  const css = `${roles.map((role) => `[role=${role}]`).join(', ')}, input[type=radio]`
  const plain = (text: string) =>
    text
      .replaceAll(/[\u200B\u00AD]/g, '')
      .replaceAll(/\s+/g, ' ')
      .trim()
  const isVisible = (element: Element) => {
    const { width, height } = element.getBoundingClientRect()
    return width > 1 && height > 1 && element.checkVisibility({ visibilityProperty: true, opacityProperty: true })
  }
  const nameOf = (element: Element): string => {
    const label = element instanceof HTMLInputElement ? element.labels?.[0]?.innerText : undefined
    const whole = plain(label ?? (element as HTMLElement).innerText ?? '')
    // An item of a tree also contains the items below it.
    const below = plain(element.querySelector<HTMLElement>('[role=group]')?.innerText ?? '')
    const shown = below && whole.endsWith(below) ? plain(whole.slice(0, -below.length)) : whole
    return shown || plain(element.getAttribute('aria-label') ?? element.getAttribute('title') ?? '')
  }
  const labelOf = (element: Element) => {
    const named = (element.getAttribute('aria-labelledby') ?? '').split(/\s+/).map((id) => document.getElementById(id))
    const texts = named.map((one) => one?.textContent ?? '').join(' ')
    return plain(texts) || plain(element.getAttribute('aria-label') ?? '')
  }
  // Of what is chosen.
  const chips = widget.parentElement?.closest('[role=listbox]')
  const root = widget.getRootNode() as Document | ShadowRoot
  const ids = `${widget.getAttribute('aria-controls') ?? ''} ${widget.getAttribute('aria-owns') ?? ''}`.split(/\s+/)
  const controlled = ids.flatMap((id) => (id ? (root.getElementById(id) ?? document.getElementById(id) ?? []) : []))
  const opened = before ? [...document.querySelectorAll('*')].filter((at) => !before.has(at) && isVisible(at)) : []
  const choices = before ? [] : [...widget.querySelectorAll(css)]
  // Buttons of which one is pressed.
  const own = before || choices.length > 0 ? choices : [...widget.querySelectorAll('button')]
  const listed = [
    ...own,
    ...controlled.flatMap((list) => [...list.querySelectorAll(css)]),
    ...opened.filter((at) => at.matches(css) && !chips?.contains(at)),
  ]
  let options = [...new Set(listed)].filter((at) =>
    isVisible(at instanceof HTMLInputElement ? (at.labels?.[0] ?? at) : at),
  )
  // Libraries that draw only a part of a long list give its elements no roles.
  if (options.length === 0)
    options = opened.filter((at) => at.matches('[aria-selected], li, [title]:not(button, [role=button])') && nameOf(at))
  const byName = (form: (text: string) => string) =>
    options.filter((at) => [nameOf(at), labelOf(at)].some((name) => name !== '' && form(name) === form(plain(value))))
  const [exact, loose] = [byName(String), byName((text) => text.toLowerCase())]
  const [first, ...others] = exact.length > 0 ? exact : loose
  const byValue = options.find((at) =>
    [at.getAttribute('data-value'), (at as HTMLInputElement).value, at.getAttribute('aria-posinset')].includes(value),
  )
  // The parts of a rating have names such as `4 stars`.
  const rated = options.filter((at) => at.matches('[role=radio]') && labelOf(at).split(/\D+/).includes(value))
  const level = (at: Element) => at.parentElement?.closest('[role=group]')
  const inner = others.findLast((at) => first!.contains(at) && level(at) === level(first!))
  const option = inner ?? first ?? byValue ?? (rated.length === 1 ? rated[0]! : null)
  return {
    option,
    name: option ? nameOf(option) : '',
    any: options.at(-1) ?? null,
    isDisabled: option?.closest('[aria-disabled=true], :disabled') != null,
    names: [...new Set(options.map((at) => (labelOf(at) || nameOf(at)).slice(0, 100)))].slice(0, 20),
  }
}

/** Returns whether an option is chosen already. */
export function isChosen(option: Element): boolean {
  if (option instanceof HTMLInputElement) return option.checked
  if (option.matches('[aria-selected=true], [aria-checked=true], [aria-pressed=true]')) return true
  // Buttons and options without a role say so with a class.
  const pattern = option.localName === 'button' ? /[-_]active$/ : /[-_](?:selected|checked)$/
  return !option.hasAttribute('role') && [...option.classList].some((name) => pattern.test(name))
}

/** Returns whether several options can be chosen in the list of an option: it then marks only those that are. */
export function isOneOfMany(option: Element): boolean {
  const list = option.closest('[role=listbox], [role=menu], [role=tree], [role=grid], ul')
  if (list?.getAttribute('aria-multiselectable') === 'true' || option.matches('[aria-checked], [role^=menuitem]'))
    return true
  return (list?.querySelectorAll('[aria-selected=true]').length ?? 0) > 1
}

/** Returns whether a widget is a list that is always open, in which several options can be chosen. */
export const isListOfSeveral = (widget: Element): boolean =>
  widget.matches('[role=listbox][aria-multiselectable=true]:not([role=combobox])')

/** Returns the first chosen option of a list with another name than these. */
export function chosenBeside(widget: Element, names: readonly string[]): Element | null {
  const isNamed = (option: Element) =>
    [(option as HTMLElement).innerText, option.getAttribute('aria-label'), option.getAttribute('title')].some(
      (name) =>
        name !== null &&
        names.includes(
          name
            .replaceAll(/[\u200B\u00AD]/g, '')
            .replaceAll(/\s+/g, ' ')
            .trim(),
        ),
    )
  return [...widget.querySelectorAll('[role=option][aria-selected=true]')].find((option) => !isNamed(option)) ?? null
}

/** Returns whether an option of a list is chosen; lists may replace their options after a click. */
export const isStillChosen = (option: Element): boolean =>
  option.isConnected && option.getAttribute('aria-selected') === 'true'

/** Returns whether an option that was clicked says that it was taken: it is chosen, or its menu has closed. */
export function isTaken(option: Element): boolean {
  const states = ['aria-selected', 'aria-checked', 'aria-current', 'aria-pressed']
  if (option.matches('[role=menuitem]') && !option.checkVisibility({ visibilityProperty: true })) return true
  if (option instanceof HTMLInputElement) return option.checked
  const isMarked = option.localName === 'button' && [...option.classList].some((name) => /[-_]active$/.test(name))
  return option.isConnected && (isMarked || states.some((state) => option.getAttribute(state) === 'true'))
}

/** Returns the part of an option that takes the click. */
export function clickedPart(option: Element): Element {
  // Pages show the label of a radio button in its place.
  if (option instanceof HTMLInputElement) return option.labels?.[0] ?? option
  // The middle of an item of a tree may be an item below it.
  const hasBelow = (at: Element) => at.matches('[role=group]') || at.querySelector('[role=group]') !== null
  // A click beside the checkbox may only select the item.
  const checks = option.matches('[role=treeitem]') ? option.querySelectorAll('[type=checkbox], [role=checkbox]') : []
  const check = [...checks].find((at) => at.closest('[role=treeitem]') === option)
  if (check) return check instanceof HTMLInputElement && check.parentElement !== option ? check.parentElement! : check
  return (hasBelow(option) && [...option.children].find((at) => !hasBelow(at))) || option
}

/** Returns whether an option is an item of a tree with another one below it. */
export const isItemAround = (option: Element, other: Element): boolean =>
  option.matches('[role=treeitem]') && option !== other && option.contains(other)

/** Returns whether an option is an item of a tree that contains the items of an open level. */
export const hasItems = (option: Element): boolean =>
  option.matches('[role=treeitem]') && option.querySelector('[role=treeitem]')?.checkVisibility() === true

/** Returns the button that opens the level below a closed item of a tree; null for other options. */
export function levelButton(option: Element): Element | null {
  if (!option.matches('[role=treeitem][aria-expanded=false]')) return null
  const buttons = option.querySelectorAll('button, [role=button]')
  return [...buttons].find((at) => at.closest('[role=treeitem]') === option) ?? null
}

interface WatchedClick {
  readonly part: Element
  isClicked: boolean
}

/** Records whether an element gets a click. */
export function watchClick(part: Element): WatchedClick {
  const watch: WatchedClick = { part, isClicked: false }
  part.addEventListener('click', () => (watch.isClicked = true), { capture: true, once: true })
  return watch
}

/** Returns whether an element that is still shown has got no click. */
export const isUnclicked = ({ part, isClicked }: WatchedClick): boolean =>
  !isClicked && part.isConnected && part.checkVisibility({ visibilityProperty: true })

/** Returns whether an item of a menu or tree shows the level below it. */
export function isOpenLevel(option: Element): boolean {
  if (option.getAttribute('aria-expanded') === 'true') return true
  const isItem = option.matches('[role^=menuitem], [role=treeitem]')
  return isItem && [...option.classList].some((name) => /[-_](?:active|open|expanded)$/.test(name))
}

/** Returns the texts and values that a combobox shows: of the element with the role, and of the field around it. */
export function shownTexts(widget: Element): string[] {
  const texts: string[] = []
  let around: Element | null = widget
  for (let level = 0; around && level < 4; level += 1, around = around.parentElement) {
    if (level > 0 && around.getBoundingClientRect().height > 300) break
    const own = around instanceof HTMLInputElement ? [around.value] : []
    const inside = [...around.querySelectorAll('input')].map((input) => input.value)
    texts.push(...own, ...inside, (around as HTMLElement).innerText ?? '')
  }
  return texts
}

/** Returns the texts that a combobox shows, up to where other fields begin. */
export function ownTexts(widget: Element): string[] {
  const isOther = (field: Element) => !widget.contains(field) && field.checkVisibility({ visibilityProperty: true })
  const texts: string[] = []
  for (let around: Element | null = widget, level = 0; around && level < 4; around = around.parentElement, level += 1) {
    const others = 'input, select, textarea, [role=combobox], [aria-haspopup=listbox], label'
    if ([...around.querySelectorAll(others)].some(isOther)) break
    texts.push(around instanceof HTMLInputElement ? around.value : (around as HTMLElement).innerText)
    // The texts of tags may have nothing between them.
    for (const part of around.querySelectorAll('*')) if (part.checkVisibility()) texts.push(part.textContent)
  }
  return texts
}

/** Scrolls the list around an option to its start, or on by its height; returns whether that changed it. */
export async function scrollList(option: Element, toStart: boolean): Promise<boolean> {
  for (let at = option.parentElement; at && at !== document.body; at = at.parentElement) {
    if (at.scrollHeight <= at.clientHeight + 1 || getComputedStyle(at).overflowY === 'visible') continue
    const from = at.scrollTop
    const text = at.textContent
    if (toStart) at.scrollTop = 0
    else at.scrollTop += Math.max(1, at.clientHeight - 10)
    // Lists that draw only a part of their options draw the next ones two frames later, or when the scrolling has paused.
    const isDrawn = () =>
      at.textContent !== text || option.getBoundingClientRect().bottom >= at.getBoundingClientRect().bottom - 1
    for (let frames = 0; frames < 2 || (frames < 20 && !toStart && !isDrawn()); frames += 1)
      await new Promise((resolve) => requestAnimationFrame(resolve))
    return at.scrollTop !== from
  }
  return false
}
