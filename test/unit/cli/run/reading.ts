/** Reads scripts from texts, as `bax run` reads them from files. */
import { expect, test } from 'vitest'
import { z } from 'zod'
import { defineOperation } from '../../../../src/core/operation/operation.ts'
import { inGateway } from '../../../../src/core/operation/placement.ts'
import { renderErrors } from '../../../../src/cli/run/script/render-errors.ts'
import { type ReadScripts, readScripts } from '../../../../src/cli/run/script/script.ts'
import { makeVerbs } from '../../../../src/cli/run/script/verbs.ts'
import { operations } from '../../../../src/operations/index.ts'

const shell = z.object({ session_id: z.string() })

/** Operations of a shell, with the routes of the HTTP API. */
const shellOperations = {
  createShell: defineOperation({
    summary: 'Create a shell',
    http: 'POST /shell/sessions',
    scope: 'shell',
    runs: inGateway,
    cli: 'shell create',
    input: z.object({ image: z.string().optional() }),
    output: shell,
    run: async () => ({ session_id: 'sh_1' }),
  }),
  execShell: defineOperation({
    summary: 'Run a command in a shell',
    http: 'POST /shell/exec',
    scope: 'shell',
    runs: inGateway,
    cli: 'shell exec <session_id> <command>',
    sample: { session_id: 'sh_1', command: 'ls' },
    input: shell.extend({ command: z.string() }),
    output: z.object({ exit_code: z.int() }),
    run: async () => ({ exit_code: 0 }),
  }),
}

const verbs = makeVerbs({ ...operations, ...shellOperations })

interface Reading {
  readonly env?: Record<string, string>
  readonly vars?: Record<string, string>
  readonly checkOnly?: boolean
}

/** Reads `main.yaml` of the given files. */
export function read(
  files: Record<string, string>,
  { env = {}, vars = {}, checkOnly = false }: Reading = {},
  main = 'main.yaml',
): ReadScripts {
  return readScripts([main], {
    cwd: '/scripts',
    given: { env, runId: 'run_1' },
    overrides: vars,
    strict: false,
    checkOnly,
    verbs,
    readFile: (path) => {
      const text = files[path.replace('/scripts/', '')]
      if (text === undefined) throw Object.assign(new Error('missing'), { code: 'ENOENT' })
      return text
    },
  })
}

/** Returns the errors of a script as the terminal shows them. */
export const errorsOf = (files: string | Record<string, string>, reading?: Reading, main?: string): string =>
  renderErrors(read(typeof files === 'string' ? { 'main.yaml': files } : files, reading, main).errors).trimEnd()

/** Adds a test that compares all errors of a script. */
export function reportsErrors(title: string, script: string, expected: string): void {
  test(title, () => expect(errorsOf(script)).toBe(expected))
}
