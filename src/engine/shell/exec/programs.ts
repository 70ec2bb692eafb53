/** Turns a command line, a script or an argument list into a program to run. */
import { BaxError } from '../../../core/errors/errors.ts'
import type { ExecInput } from '../../../core/shapes/shell/exec.ts'
import type { ShellLanguage } from '../../../core/shapes/shell/session.ts'
import type { ShellContainer } from '../interface.ts'
import { type ExecSpec, scriptPlaceholder } from '../container-exec.ts'

/** Maximum length of a single argument that holds a command line, in bytes. */
const argumentBytes = 100 * 1024

/** Interpreters to look for in an image, in order of preference. */
const interpreters: Record<ShellLanguage, readonly string[]> = {
  bash: ['bash', 'sh'],
  python: ['python3', 'python'],
  javascript: ['node', 'nodejs'],
}
const allInterpreters = Object.values(interpreters).flat()

/** Runs a script from memory: finds modules of the working folder, and hides itself in tracebacks. */
const pythonLoader = `
def _program():
    import linecache, sys
    with open(sys.argv[1], 'rb') as file:
        text = file.read().decode()
    sys.argv[:] = ['<code>']
    linecache.cache['<code>'] = (len(text), None, text.splitlines(True), '<code>')
    def tell(kind, error, trace):
        import traceback
        traceback.print_exception(kind, error, trace and trace.tb_next)
    sys.excepthook = tell
    return compile(text, '<code>', 'exec')
exec(_program())
`

/** Does the same for Node, as `main.js`; scripts with import or export run as a module in a second process. */
const nodeLoader = `{
const node = process, { readFileSync } = require('node:fs'), { join } = require('node:path'), Module = require('node:module')
const text = readFileSync(node.argv[1], 'utf8'), file = join(node.cwd(), 'main.js'), main = new Module(file, null)
node.argv.splice(1, 1, file)
main.filename = file
main.paths = Module._nodeModulePaths(node.cwd())
const isModule = (error) => error instanceof SyntaxError &&
  /import statement|Unexpected token 'export'|import\\.meta|await is only valid/.test(error.message)
let failure
try { new (require('node:vm').Script)(Module.wrap(text), { filename: file }) } catch (error) { failure = error }
if (failure && isModule(failure)) {
  const run = require('node:child_process').spawnSync(node.execPath, ['--input-type=module', '-e', text], { stdio: 'inherit' })
  if (run.error) throw run.error
  if (run.signal) node.kill(node.pid, run.signal)
  else node.exitCode = run.status
} else main._compile(text, file)
}`

type Source = Pick<ExecInput, 'command' | 'code' | 'argv'>
type Program = Pick<ExecSpec, 'argv' | 'script'>

/** @throws BaxError `unsupported` without the interpreter, `payload_too_large` for an argument that is too long. */
export async function programOf(source: Source, language: ShellLanguage, container: ShellContainer): Promise<Program> {
  const { command, code, argv } = source
  if (argv) return { argv: checked(argv) }
  if (command !== undefined) {
    const shell = await interpreterOf('bash', container)
    if (Buffer.byteLength(command) <= argumentBytes) return { argv: [shell, '-c', command] }
    return { argv: [shell, scriptPlaceholder], script: Buffer.from(command) }
  }
  const script = Buffer.from(code!)
  const program = await interpreterOf(language, container)
  if (language === 'python') return { argv: [program, '-c', pythonLoader, scriptPlaceholder], script }
  if (language === 'javascript') return { argv: [program, '-e', nodeLoader, scriptPlaceholder], script }
  return { argv: [program, scriptPlaceholder], script }
}

async function interpreterOf(language: ShellLanguage, container: ShellContainer): Promise<string> {
  const found = await container.which(allInterpreters)
  const path = interpreters[language].map((program) => found.get(program)).find(Boolean)
  if (path) return path
  throw new BaxError('unsupported', `the image of this session has no ${interpreters[language][0]}`, {
    hint: 'create a session with another image or language',
  })
}

function checked(argv: readonly string[]): readonly string[] {
  const tooLong = argv.findIndex((word) => Buffer.byteLength(word) > 128 * 1024 - 1)
  if (tooLong === -1) return argv
  throw new BaxError('payload_too_large', `argv[${tooLong}] is longer than 128 KiB`, {
    hint: 'send it as stdin, or as a file',
    details: [{ path: `argv[${tooLong}]`, message: 'is longer than 128 KiB' }],
  })
}
