/** A page with a table of records below a summary or a dialog. */
import { Box, Text } from 'ink'
import { useState } from 'react'
import { useTheme } from '../hooks/app-context.ts'
import type { Polled } from '../hooks/use-polling.ts'
import type { ListProps, ScreenProps, ViewProps } from '../screens/screen-props.ts'
import { Table, type TableProps } from './table.tsx'

interface ListPageProps<Row> extends TableProps<Row> {
  /** The polled list; its error is shown while there is no response. */
  readonly list: Polled<unknown>
  readonly summary: string
  /** Replaces the summary while it is open. */
  readonly dialog: React.ReactNode
}

export function ListPage<Row>({ list, summary, dialog, ...table }: ListPageProps<Row>) {
  const { width, height, empty } = table
  const theme = useTheme()
  const problem = list.answer ? undefined : list.error?.message
  return (
    <Box flexDirection="column" width={width} height={height}>
      {dialog ?? (
        <Text bold wrap="truncate" color={problem === undefined ? undefined : theme.bad}>
          {` ${problem ?? summary}`}
        </Text>
      )}
      <Table {...table} height={height - 1} empty={list.answer ? empty : 'loading …'} />
    </Box>
  )
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

/** Returns the state of a dialog. `closing` wraps a function so that it closes the dialog first. */
export function useDialog<Dialog>() {
  const [dialog, open] = useState<Dialog | null>(null)
  const close = () => open(null)
  const closing =
    <Args extends unknown[]>(work: (...args: Args) => void) =>
    (...args: Args) => {
      close()
      work(...args)
    }
  return { dialog, open, close, closing }
}
