/** Modules of the terminal commands, each of which is loaded when its command is called. */
import type { TerminalCommand } from './invocation.ts'

declare global {
  interface ImportMeta {
    /** Becomes one `import()` for each file: by Vite in tests, and by `scripts/build.js`. */
    glob<Module>(pattern: string): Readonly<Record<string, () => Promise<Module>>>
  }
}

const modules = import.meta.glob<{ command: TerminalCommand }>('../commands/**/*.ts')

/** Loads a command by its name: `session use` is in `commands/session/session-use.ts`. */
export async function loadCommand(words: string): Promise<TerminalCommand> {
  const file = Object.keys(modules).find((path) => path.endsWith(`/${words.replaceAll(' ', '-')}.ts`))
  return (await modules[file!]!()).command
}

/** Loads all commands, with the paths of their files. */
export const allCommands = (): Promise<{ readonly path: string; readonly command: TerminalCommand }[]> =>
  Promise.all(
    Object.entries(modules).map(async ([path, load]) => ({
      path: path.replace('../', 'src/cli/'),
      command: (await load()).command,
    })),
  )
