/** Colours by meaning; their names come from the terminal's own palette, which fits light and dark backgrounds. */
import type { Terminal } from './host.ts'

/** 0: none; 1: 16 colours; 2: 256 colours; 3: true colour. */
export type ColourDepth = 0 | 1 | 2 | 3

export interface Theme {
  readonly depth: ColourDepth
  readonly accent: string | undefined
  readonly good: string | undefined
  readonly bad: string | undefined
  readonly notable: string | undefined
}

/** Returns how many colours the terminal shows, according to its environment variables. */
export function colourDepth({ env, stdout }: Terminal): ColourDepth {
  const { TERM: term = '', COLORTERM: colour = '', TERM_PROGRAM: program = '' } = env
  if (env['NO_COLOR'] || !stdout.isTTY || term === 'dumb') return 0
  if (/truecolor|24bit/i.test(colour) || /kitty|ghostty|wezterm|alacritty|direct/i.test(`${term} ${program}`)) return 3
  return /256/.test(term) || /iTerm|vscode|Apple_Terminal/.test(program) ? 2 : 1
}

export const themeOf = (depth: ColourDepth): Theme =>
  depth === 0
    ? { depth, accent: undefined, good: undefined, bad: undefined, notable: undefined }
    : { depth, accent: 'cyan', good: 'green', bad: 'red', notable: 'yellow' }
