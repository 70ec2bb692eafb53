import { useSyncExternalStore } from 'react'
import { useHouse } from './house.ts'

/** Columns and rows of the terminal, as they change. */
export function useSize(): { readonly columns: number; readonly rows: number } {
  const { screen } = useHouse()
  const size = useSyncExternalStore(
    (listener) => {
      screen.on('resize', listener)
      return () => screen.off('resize', listener)
    },
    () => `${screen.columns}x${screen.rows}`,
  )
  const [columns, rows] = size.split('x').map(Number) as [number, number]
  return { columns, rows }
}
