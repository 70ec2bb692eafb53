/** `bax completion`: prints a completion script for a shell. */
import { requiredWord } from '../../lines/typed.ts'
import { Argument } from 'commander'
import { BaxError } from '../../core/errors/errors.ts'
import { didYouMean } from '../../core/errors/suggest.ts'
import { installCommands, scripts, shells } from '../completion/scripts.ts'
import { parseInvocation, type TerminalCommand } from '../parse/invocation.ts'
import { note, print } from '../io.ts'

export const command: TerminalCommand = {
  cli: 'completion <bash|zsh|fish>',
  summary: 'Print a shell completion script',
  example: ['source <(bax completion bash)', 'bax completion fish > ~/.config/fish/completions/bax.fish'],
  async run(invocation) {
    const { context, typed } = parseInvocation(invocation, (command) => {
      command.addArgument(new Argument('<bash|zsh|fish>', 'shell to complete in'))
    })
    const given = requiredWord(typed.words, 0)
    const shell = shells.find((name) => name === given)
    if (!shell) {
      throw new BaxError('invalid_request', `no completion for ${given}${didYouMean(given, shells)}`, {
        hint: `use one of ${shells.join(', ')}`,
      })
    }
    print(context.io, scripts[shell])
    if (context.io.stdout.isTTY) note(context.io, `# to install it: ${installCommands[shell]}`)
  },
}
