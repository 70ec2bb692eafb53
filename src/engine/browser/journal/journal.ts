/** The commands of a session with the elements that they used, so that they can become a script. */
import type { Locator, Page } from 'playwright'
import { catalogue } from '../../../commands/index.ts'
import { limits } from '../../../core/limits/limits.ts'
import type { CommandCall, CommandResult } from '../../../core/shapes/commands.ts'
import { locateAll, parseSelector } from '../elements/selectors.ts'
import { TypedText } from '../privacy/typed-text.ts'
import type { JournalControl, JournalEntry, JournalEntryControl, TargetFacts } from '../ports/journal.ts'
import { controlByPerson } from './kept-entries.ts'
import { describeTarget, isSecretFocused } from './describe-target.ts'
import { proofOf } from './proofs.ts'
import { SecretValues } from './secret-values.ts'
import { withoutSecrets } from './without-secrets.ts'

export class Journal implements JournalControl {
  // Scripts may open the URLs of the address bar.
  readonly typed = new TypedText({ withUrls: false })
  readonly #entries: JournalEntry[] = []
  readonly #secrets = new SecretValues()
  #count = 0
  #chars = 0
  #dropped = 0

  get entries(): readonly JournalEntry[] {
    return this.#entries
  }

  /** Number of the oldest commands, which were discarded. */
  get dropped(): number {
    return this.#dropped
  }

  async begin(call: CommandCall, page: Page | undefined, answers: boolean): Promise<JournalEntryControl> {
    this.#count += 1
    const number = this.#count
    const urlBefore = this.urlOf(page)
    const targets = new Map<string, TargetFacts>()
    const used = new Set<string>()
    /** Descriptions that were asked for, by selector; each is in `targets` once its promise resolves. */
    const asked = new Map<string, Promise<void>>()
    const describe = async (selector: string, element: Locator) => {
      used.add(selector)
      await asked.get(selector)
      if (targets.has(selector)) return
      const described = await describeTarget(element)
      const keep = async () => {
        const found = await described()
        if (found) targets.set(selector, found)
      }
      asked.set(selector, keep())
    }
    const typesToFocus =
      call.data?.['selector'] === undefined && /^(?:insert_text|press_key|key_down|key_up)$/.test(call.command)
    const [isFocusSecret] = await Promise.all([
      typesToFocus && (!page || !answers || isSecretFocused(page)),
      ...(page && answers ? referencesIn(call) : []).map((selector) =>
        describe(selector, locateAll(page!, parseSelector(selector))),
      ),
    ])
    // Values may be passwords; other reads are faster without the facts of their element.
    const isRead = catalogue.get(call.command)?.kind !== 'action' && call.command !== 'get_value'
    return {
      describe: isRead ? undefined : describe,
      end: async (result, after) => {
        const urlAfter = after ? this.urlOf(after) : urlBefore
        const tabs = [this.tabNumber(page), this.tabNumber(after)] as const
        await Promise.all(asked.values())
        const known = { targets, used: [...used], isFocusSecret, secrets: this.#secrets }
        this.#add({
          number,
          command: call.command,
          ...withoutSecrets(call, known),
          used: [...used],
          targets,
          ...(result.matches !== undefined && { matches: result.matches }),
          ...(!result.success && failureOf(result)),
          urlBefore,
          urlAfter,
          tabs,
          dialogs: result.dialogs,
          downloads: (result.downloads ?? []).map(({ name }) => name),
          ...proofOf(call, result, { targets, secrets: this.#secrets, typed: this.typed }),
          ...fieldsOf(result),
        })
      },
    }
  }

  beginByPerson(page: Page | undefined) {
    const urlBefore = this.urlOf(page)
    const tab = this.tabNumber(page)
    return (after: Page | undefined, { command, data = {} }: CommandCall, elements: readonly TargetFacts[]) => {
      const targets = new Map(elements.map((target) => [target.selector, target]))
      const used = [...targets.keys()]
      const hidden = withoutSecrets({ command, data }, { targets, used, isFocusSecret: false, secrets: this.#secrets })
      this.#count += 1
      const tabs = [tab, this.tabNumber(after)] as const
      const urls = { urlBefore, urlAfter: this.urlOf(after) }
      const nothing = { dialogs: undefined, downloads: [] }
      this.#add({ number: this.#count, command, ...hidden, used, targets, ...urls, tabs, ...nothing })
    }
  }

  addControl(page: Page | undefined): () => void {
    if (this.#entries.at(-1)?.command === controlByPerson) return () => {}
    const url = this.urlOf(page)
    const tab = this.tabNumber(page)
    const entry: JournalEntry = {
      number: Math.max(this.#count, 1),
      command: controlByPerson,
      data: {},
      templates: [],
      used: [],
      targets: new Map(),
      urlBefore: url,
      urlAfter: url,
      tabs: [tab, tab],
      dialogs: undefined,
      downloads: [],
    }
    this.#add(entry)
    return () => {
      const at = this.#entries.indexOf(entry)
      if (at < 0) return
      this.#entries.splice(at, 1)
      this.#chars -= sizeOf(entry)
    }
  }

  urlOf(page: Page | undefined): string {
    const url = page?.url() ?? 'about:blank'
    // A host would be redacted for any word in it.
    const [start] = /^[a-z][a-z0-9+.-]*:(?:\/\/[^/?#]*|blank$)?/i.exec(url) ?? ['']
    return start + this.typed.redact(url.slice(start.length))
  }

  tabNumber(page: Page | undefined): number {
    if (!page) return 0
    const number = this.#tabs.get(page) ?? (this.#tabCount += 1)
    this.#tabs.set(page, number)
    return number
  }
  readonly #tabs = new WeakMap<Page, number>()
  #tabCount = 0

  #add(entry: JournalEntry): void {
    this.#entries.push(entry)
    this.#entries.sort((a, b) => a.number - b.number)
    this.#chars += sizeOf(entry)
    const { entries, chars } = limits.journal
    while (this.#entries.length > entries || (this.#chars > chars && this.#entries.length > 1)) {
      this.#chars -= sizeOf(this.#entries.shift()!)
      this.#dropped += 1
    }
  }
}

const sizeOf = (entry: JournalEntry): number => JSON.stringify([entry, [...entry.targets]]).length

const fieldsOf = ({ command, data }: CommandResult): Pick<JournalEntry, 'fields'> =>
  command === 'fill_form' && data ? { fields: data['fields'] as NonNullable<JournalEntry['fields']> } : {}

function failureOf({ code = 'internal_error', details }: CommandResult): Pick<JournalEntry, 'failure' | 'delivered'> {
  const delivered = details?.['delivered']
  return { failure: code, ...(typeof delivered === 'boolean' && { delivered }) }
}

/** Returns the references of an observation that a command was given: they mean nothing in another session. */
function referencesIn({ data }: CommandCall): string[] {
  const given = [data?.['selector'], data?.['target_selector']]
  return given.filter((each): each is string => typeof each === 'string' && /^\s*ref=(?:f\d+)?e\d+\b/.test(each))
}
