/** A screen with a table of records, below a summary or the dialog of a key. */
import { Box, Text } from 'ink'
import { useState } from 'react'
import { useKeys, useTheme } from '../hooks/app-context.ts'
import type { Polled } from '../hooks/use-polling.ts'
import type { Binding } from '../keyboard.ts'
import { Prompt, type PromptProps } from './prompt.tsx'
import { Table, type TableProps } from './table.tsx'

/** Size and visibility of a screen. */
export interface ScreenProps {
  readonly width: number
  readonly height: number
  /** Whether something covers the screen: images are hidden, and keys go to the cover. */
  readonly covered: boolean
}

/** The list of a screen. */
export interface ListProps<Item> extends ScreenProps {
  readonly onOpen: (item: Item) => void
}

/** The view of an item that was opened from the list. */
export interface ViewProps<Item> extends ScreenProps {
  readonly item: Item
  readonly onClose: () => void
}

/** Returns a screen that shows a list, or the view of the item that was opened from it. */
export const listScreen = <Item,>(
  List: (props: ListProps<Item>) => React.ReactNode,
  View: (props: ViewProps<Item>) => React.ReactNode,
) =>
  function ListScreen(props: ScreenProps) {
    const [item, setItem] = useState<Item | null>(null)
    if (item === null) return <List {...props} onOpen={setItem} />
    return <View {...props} item={item} onClose={() => setItem(null)} />
  }

/** A key that asks for a line of text. */
interface PromptKey extends Pick<PromptProps, 'initial' | 'onChange' | 'onSubmit'> {
  readonly key: string
  readonly label: string
  readonly prompt: string
  readonly onCancel?: () => void
}

interface ListPageProps<Row> extends TableProps<Row> {
  /** The polled list; its error is shown until the next response. */
  readonly list: Polled<unknown>
  readonly summary: string
  /** Keys of the page, and their heading in the help. */
  readonly keys?: { readonly title: string; readonly prompts: readonly PromptKey[]; readonly others?: Binding[] }
  /** Action of the key `x` on the selected row, after the user has confirmed it. */
  readonly ending: {
    readonly label: string
    readonly question: (row: Row) => string
    readonly run: (row: Row) => void
  }
}

export function ListPage<Row>({ list, summary, keys, ending, actions = [], ...table }: ListPageProps<Row>) {
  const { width, height, empty } = table
  const theme = useTheme()
  const [prompting, setPrompting] = useState<string | null>(null)
  const [toEnd, setToEnd] = useState<Row | null>(null)
  const { title = '', prompts = [], others = [] } = keys ?? {}
  const opening = prompts.map(({ key, label }) => ({ keys: [key], label, run: () => setPrompting(key) }))
  useKeys('screen', { title, bindings: [...opening, ...others] }, keys !== undefined)
  const problem = list.error?.message
  const open = prompts.find(({ key }) => key === prompting)
  const endings = [{ keys: ['x'], label: ending.label, run: setToEnd }, ...actions]
  return (
    <Box flexDirection="column" width={width} height={height}>
      {toEnd !== null && (
        <Confirm
          question={ending.question(toEnd)}
          onAnswer={(yes) => {
            setToEnd(null)
            if (yes) ending.run(toEnd)
          }}
        />
      )}
      {open && (
        <Prompt
          label={open.prompt}
          width={width}
          initial={open.initial}
          onChange={open.onChange}
          onSubmit={(text) => {
            setPrompting(null)
            open.onSubmit(text)
          }}
          onCancel={() => {
            setPrompting(null)
            open.onCancel?.()
          }}
        />
      )}
      {toEnd === null && !open && (
        <Text bold wrap="truncate" color={problem === undefined ? undefined : theme.bad}>
          {` ${problem ?? summary}`}
        </Text>
      )}
      <Table {...table} height={height - 1} empty={list.answer ? empty : 'loading …'} actions={endings} />
    </Box>
  )
}

/** A modal question that is answered with y or n. */
function Confirm({ question, onAnswer }: { question: string; onAnswer: (yes: boolean) => void }) {
  const theme = useTheme()
  useKeys('dialog', {
    title: 'Question',
    isModal: true,
    bindings: [
      { keys: ['y', 'Y'], label: 'yes', run: () => onAnswer(true) },
      { keys: ['n', 'N', 'escape', 'enter', 'q'], label: 'no', run: () => onAnswer(false) },
    ],
  })
  return (
    <Text wrap="truncate">
      <Text bold color={theme.notable}>{`${question} `}</Text>
      <Text dimColor>y / n</Text>
    </Text>
  )
}
