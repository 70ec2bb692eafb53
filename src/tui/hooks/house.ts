/** What every component of the UI can reach. */
import { createContext, useContext, useSyncExternalStore } from 'react'
import type { Desk } from '../desk.ts'
import type { Keyboard } from '../keyboard.ts'
import type { Link, LinkState } from '../link.ts'
import type { Graphics } from '../picture/graphics.ts'
import type { Screen } from '../terminal/screen.ts'
import type { Theme } from '../theme.ts'

export interface House {
  readonly desk: Desk
  readonly link: Link
  readonly keyboard: Keyboard
  readonly screen: Screen
  readonly theme: Theme
  /** How pictures are shown here. */
  readonly graphics: Graphics
  /** Says something in the last line, until the next thing is said. */
  readonly say: (text: string, mood?: 'good' | 'bad') => void
  /** Runs something in this terminal while the UI is away. */
  readonly away: (work: () => Promise<void>) => Promise<void>
  readonly quit: () => void
}

export const HouseContext = createContext<House | null>(null)

export function useHouse(): House {
  const house = useContext(HouseContext)
  if (!house) throw new Error('a component stands outside the house')
  return house
}

export const useTheme = (): Theme => useHouse().theme

/** Whether the engine answers, as it changes. */
export function useLink(): LinkState {
  const { link } = useHouse()
  return useSyncExternalStore(link.subscribe, link.state)
}
