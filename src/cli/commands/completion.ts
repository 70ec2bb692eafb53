/** `bax completion`: the script that makes a shell complete what is typed after `bax`. */
import { Argument } from 'commander'
import { BaxError } from '../../core/errors/errors.ts'
import { didYouMean } from '../../core/errors/suggest.ts'
import { howTo, scripts, type Shell, shells } from '../completion/scripts.ts'
import { begin, type TerminalCommand } from '../parse/invocation.ts'
import { note, print } from '../io.ts'

export const command: TerminalCommand = {
  async run(invocation) {
    const { context, typed } = begin(invocation, (command) => {
      command.addArgument(new Argument('<bash|zsh|fish>', 'your shell'))
    })
    const given = typed.words[0] as string
    if (!isShell(given)) {
      throw new BaxError('invalid_request', `there is no completion for ${given}${didYouMean(given, shells)}`, {
        hint: `bax completion takes ${shells.join(', ')}`,
      })
    }
    print(context.io, scripts[given])
    if (context.io.stdout.isTTY) note(context.io, `# to keep it: ${howTo[given]}`)
    return 0
  },
}

const isShell = (text: string): text is Shell => (shells as readonly string[]).includes(text)
