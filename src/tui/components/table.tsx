/** A table with one selected row. */
import { Box, type DOMElement, Text } from 'ink'
import { useRef, useState } from 'react'
import { useKeys, useTheme } from '../hooks/app-context.ts'
import { useMouse } from '../hooks/use-mouse.ts'
import type { Binding } from '../keyboard.ts'
import { plain } from '../../core/text/plain.ts'
import { fit, widthOf } from '../terminal/plain.ts'

export interface Column<Row> {
  readonly head: string
  readonly of: (row: Row) => string
  /** Width in cells; columns without one share the remaining width. */
  readonly width?: number
  readonly side?: 'left' | 'right'
  /** Returns the colour of a highlighted cell. */
  readonly colour?: (row: Row) => string | undefined
}

export interface TableProps<Row> {
  readonly title: string
  readonly rows: readonly Row[]
  readonly keyOf: (row: Row) => string
  readonly columns: readonly Column<Row>[]
  readonly width: number
  readonly height: number
  /** Text shown without rows. */
  readonly empty: string
  readonly active?: boolean
  readonly onOpen?: (row: Row) => void
  /** Additional keys that act on the selected row. */
  readonly actions?: readonly { keys: readonly string[]; label: string; run: (row: Row) => void }[]
}

/** Rows that a turn of the wheel moves. */
const wheelRows = 3

/** Moves the selection with the arrows, the page keys, `g`, `G` and the mouse; it follows its row when the list changes. */
export function Table<Row>(props: TableProps<Row>) {
  const { title, rows, keyOf, columns, width, height, empty, active = true, onOpen, actions = [] } = props
  const [chosen, setChosen] = useState<{ key: string | undefined; index: number }>({ key: undefined, index: 0 })
  const index = indexOf(rows, keyOf, chosen)
  const shown = Math.max(1, height - 1)
  const move = (to: number) => {
    const next = Math.max(0, Math.min(rows.length - 1, to))
    setChosen({ key: rows[next] && keyOf(rows[next]), index: next })
  }
  const withRow = (run: (row: Row) => void) => () => {
    if (rows[index] !== undefined) run(rows[index])
  }
  const bindings: Binding[] = [
    { keys: ['up', 'k'], label: 'up', run: () => move(index - 1) },
    { keys: ['down', 'j'], label: 'down', run: () => move(index + 1) },
    { keys: ['pageup', 'ctrl+b'], label: 'page up', run: () => move(index - shown) },
    { keys: ['pagedown', 'ctrl+f'], label: 'page down', run: () => move(index + shown) },
    { keys: ['g', 'home'], label: 'go to the first', run: () => move(0) },
    { keys: ['G', 'end'], label: 'go to the last', run: () => move(rows.length - 1) },
    ...(onOpen ? [{ keys: ['enter'], label: 'open', run: withRow(onOpen) }] : []),
    ...actions.map(({ keys, label, run }) => ({ keys, label, run: withRow(run) })),
  ]
  useKeys('panel', { title, bindings }, active)
  const widths = columnWidths(columns, width - 2)
  const from = Math.max(0, Math.min(index - Math.floor(shown / 2), rows.length - shown))
  const node = useRef<DOMElement>(null)
  useMouse(
    node,
    ({ y, kind }) => {
      if (kind !== 'press') return move(index + (kind === 'wheel-up' ? -wheelRows : wheelRows))
      const row = from + y - 1
      // A click on the selected row opens it; the first line is the heading.
      if (row === index && onOpen) withRow(onOpen)()
      else if (y > 0 && row < rows.length) move(row)
    },
    active,
  )
  return (
    <Box ref={node} flexDirection="column" width={width} height={height} overflow="hidden">
      <Text bold dimColor wrap="truncate">
        {`  ${columns.map(({ head, side }, at) => fit(head, widths[at]!, side)).join(' ')}`}
      </Text>
      {rows.length === 0 ? (
        <Text dimColor wrap="truncate">{`  ${empty}`}</Text>
      ) : (
        rows
          .slice(from, from + shown)
          .map((row) => (
            <Row
              key={keyOf(row)}
              row={row}
              columns={columns}
              widths={widths}
              isChosen={row === rows[index]}
              isActive={active}
            />
          ))
      )}
    </Box>
  )
}

interface RowProps<Item> {
  readonly row: Item
  readonly columns: readonly Column<Item>[]
  readonly widths: readonly number[]
  readonly isChosen: boolean
  readonly isActive: boolean
}

function Row<Item>({ row, columns, widths, isChosen, isActive }: RowProps<Item>) {
  const theme = useTheme()
  return (
    <Text bold={isChosen} inverse={isChosen && isActive} wrap="truncate">
      {isChosen ? '› ' : '  '}
      {columns.map(({ of, side, colour }, at) => (
        <Text key={at} color={isChosen && theme.depth < 2 ? undefined : colour?.(row)}>
          {`${fit(plain(of(row)), widths[at]!, side)}${at < columns.length - 1 ? ' ' : ''}`}
        </Text>
      ))}
    </Text>
  )
}

/** Returns the index of the selected row, or the nearest one when it has gone. */
function indexOf<Row>(
  rows: readonly Row[],
  keyOf: (row: Row) => string,
  chosen: { readonly key: string | undefined; readonly index: number },
): number {
  const found = rows.findIndex((row) => keyOf(row) === chosen.key)
  return found === -1 ? Math.min(chosen.index, Math.max(0, rows.length - 1)) : found
}

/** Returns the width of each column in a table of `width` cells. */
function columnWidths<Row>(columns: readonly Column<Row>[], width: number): number[] {
  const taken = columns.reduce((sum, column) => sum + (column.width ?? 0), columns.length - 1)
  const open = columns.filter((column) => column.width === undefined).length
  const each = Math.max(4, Math.floor((width - taken) / Math.max(1, open)))
  return columns.map((column) => column.width ?? Math.max(each, widthOf(column.head)))
}
