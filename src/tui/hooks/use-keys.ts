/** What a component does with keys. */
import { useLayoutEffect, useRef } from 'react'
import { type Layer, levels } from '../keyboard.ts'
import { useHouse } from './house.ts'

/** Hears keys for as long as the component is shown and `active`. What it lists is what the help shows. */
export function useKeys(level: keyof typeof levels, layer: Layer, active = true): void {
  const { keyboard } = useHouse()
  const latest = useRef(layer)
  // The keys of what is shown, not of what it was when it first was.
  useLayoutEffect(() => {
    latest.current = layer
  })
  useLayoutEffect(
    () => (active ? keyboard.add(levels[level], () => latest.current) : undefined),
    [keyboard, level, active],
  )
}
