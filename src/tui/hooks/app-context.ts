/** The app context: services that every component of the UI can use. */
import { createContext, useContext, useLayoutEffect, useRef, useSyncExternalStore } from 'react'
import type { TuiHost } from '../host.ts'
import { type Keyboard, type Layer, levels } from '../keyboard.ts'
import type { Link, LinkState } from '../link.ts'
import type { Mouse } from '../mouse.ts'
import type { Graphics } from '../image/graphics.ts'
import type { Screen } from '../terminal/screen.ts'
import type { Theme } from '../theme.ts'

export interface AppServices {
  readonly host: TuiHost
  readonly link: Link
  readonly keyboard: Keyboard
  readonly mouse: Mouse
  readonly screen: Screen
  readonly theme: Theme
  /** Graphics support of the terminal. */
  readonly graphics: Graphics
  /** Shows a notice in the footer. */
  readonly notify: (text: string, mood?: 'good' | 'bad') => void
  /** Releases the terminal while the work runs. */
  readonly suspend: (work: () => Promise<void>) => Promise<void>
  readonly quit: () => void
}

export const AppContext = createContext<AppServices | null>(null)

export function useAppContext(): AppServices {
  const context = useContext(AppContext)
  if (!context) throw new Error('the component is outside the app context')
  return context
}

export const useTheme = (): Theme => useAppContext().theme

/** Returns the state of the connection to the engine, and renders again when it changes. */
export function useLink(): LinkState {
  const { link } = useAppContext()
  return useSyncExternalStore(link.subscribe, link.state)
}

/** Returns the size of the terminal, and renders again when it changes. */
export function useSize(): { readonly columns: number; readonly rows: number } {
  const { screen } = useAppContext()
  const subscribe = (listener: () => void) => {
    screen.on('resize', listener)
    return () => screen.off('resize', listener)
  }
  return {
    columns: useSyncExternalStore(subscribe, () => screen.columns),
    rows: useSyncExternalStore(subscribe, () => screen.rows),
  }
}

/** Binds keys while the component is shown and `active`. The help lists the bindings. */
export function useKeys(level: keyof typeof levels, layer: Layer, active = true): void {
  const { keyboard } = useAppContext()
  const latest = useRef(layer)
  // Bindings close over state, so each render replaces them.
  useLayoutEffect(() => {
    latest.current = layer
  })
  useLayoutEffect(
    () => (active ? keyboard.add(levels[level], () => latest.current) : undefined),
    [keyboard, level, active],
  )
}

/** Returns a function that runs work and shows its error as a notice. `after` is called in any case. */
export function useAttempt(after: () => void = () => {}): (work: () => Promise<void>) => Promise<void> {
  const { notify } = useAppContext()
  return async (work) => {
    try {
      await work()
    } catch (error) {
      notify((error as Error).message, 'bad')
    }
    after()
  }
}
