/** The journal of a session, as batches use it. */
import type { Locator, Page } from 'playwright'
import type { CommandCall, CommandResult } from '../../../core/shapes/commands.ts'
import type { Fingerprint } from '../../../core/shapes/recording.ts'
import type { TypedText } from '../privacy/typed-text.ts'

/** An element as it was when a command used it. */
export interface TargetFacts {
  /** Selector in the form of a script. */
  readonly selector: string
  /** Playwright's own selector of the element, which is unique on the page. */
  readonly playwright: string
  readonly fingerprint: Fingerprint
  readonly secret: boolean
  readonly isLink: boolean
}

/** Fields of `verify` that expect the result of a read again. */
export type Proof = Readonly<Record<string, unknown>>

export interface JournalEntry {
  /** Number among the commands of the session, from 1. */
  readonly number: number
  /** Set after a person had control, who may have done what the command relies on. */
  readonly isAfterPerson?: true
  readonly command: string
  /** Secret values are references already. */
  readonly data: Readonly<Record<string, unknown>>
  /** Fields in which secrets were replaced: their texts are templates, and only theirs. */
  readonly templates: readonly string[]
  /** Selectors that the command has used, in order. */
  readonly used: readonly string[]
  /** Elements by these selectors; those that could not be described are missing. */
  readonly targets: ReadonlyMap<string, TargetFacts>
  /** Number of elements that a selector matched; absent for one. */
  readonly matches?: number
  /** Absent for a command that succeeded. */
  readonly failure?: string
  /** Whether the input of a command that failed reached the page; absent for commands without input. */
  readonly delivered?: boolean
  readonly urlBefore: string
  readonly urlAfter: string
  /** Numbers of the active tab before and after. */
  readonly tabs: readonly [number, number]
  readonly dialogs: CommandResult['dialogs']
  readonly downloads: readonly string[]
  /** Facts of the result of a read. */
  readonly proof?: Proof
  /** Fields of a form, as they were found. */
  readonly fields?: readonly { readonly field: string; readonly kind: string }[]
}

export interface JournalControl {
  readonly entries: readonly JournalEntry[]
  /** Number of the oldest commands, which were discarded. */
  readonly dropped: number
  /**
   * Text that a person typed in the live view outside of handoffs, and that no step contains; redacted in later URLs and
   * expectations.
   */
  readonly typed: TypedText
  /**
   * Begins the entry of what a person does in the live view. The returned function adds it as a command with the elements
   * of its selectors; `after` is the page that is active then.
   */
  beginByPerson(
    page: Page | undefined,
  ): (after: Page | undefined, call: CommandCall, targets: readonly TargetFacts[]) => void
  /**
   * Records that a person has or had control after the commands so far, once; `page` is the active page. The returned
   * function removes what it has added.
   */
  addControl(page: Page | undefined): () => void
  /** Returns the URL of a page, as in the entries. */
  urlOf(page: Page | undefined): string
  /** Returns the number of a tab, as in the entries. */
  tabNumber(page: Page | undefined): number
  /** Begins the entry of a command on the active page; `answers` is false while a dialog blocks it. */
  begin(call: CommandCall, page: Page | undefined, answers: boolean): Promise<JournalEntryControl>
}

/** The entry of a command that runs. */
export interface JournalEntryControl {
  /**
   * Describes the element of a selector; undefined for commands that only read. Resolves in any case, once no later call
   * can change what the page reads.
   */
  readonly describe: ((selector: string, element: Locator) => Promise<void>) | undefined
  /** Completes the entry; `after` is the page that is active now. */
  end(result: CommandResult, after: Page | undefined): Promise<void>
}
