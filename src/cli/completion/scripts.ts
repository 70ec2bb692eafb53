/**
 * Shell scripts that get candidates from `bax complete`. It prints `value<tab>description` for each candidate, then
 * `:files` if file names fit too, or `:none`.
 */

export const shells = ['bash', 'zsh', 'fish'] as const
type Shell = (typeof shells)[number]

/** Commands that install the scripts. */
export const installCommands: Readonly<Record<Shell, string>> = {
  bash: 'bax completion bash > ~/.local/share/bash-completion/completions/bax',
  zsh: 'bax completion zsh > "${fpath[1]}/_bax"',
  fish: 'bax completion fish > ~/.config/fish/completions/bax.fish',
}

export const scripts: Readonly<Record<Shell, string>> = {
  bash: `_bax() {
  local line current="\${COMP_WORDS[COMP_CWORD]}"
  COMPREPLY=()
  while IFS= read -r line; do
    case "$line" in
      :files) compopt -o default ;;
      :none) ;;
      *) COMPREPLY+=("\${line%%$'\\t'*}") ;;
    esac
  done < <("\${COMP_WORDS[0]}" complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
  if [[ \${#COMPREPLY[@]} -eq 1 && ( "\${COMPREPLY[0]}" == *, || "\${COMPREPLY[0]}" == *= ) ]]; then compopt -o nospace; fi
}
complete -F _bax bax`,

  zsh: `#compdef bax
_bax() {
  local line kind=:none
  local -a found
  for line in "\${(@f)$("\${words[1]}" complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}"; do
    case "$line" in
      :files|:none) kind="$line" ;;
      *) found+=("\${\${line%%$'\\t'*}//:/\\\\:}:\${line#*$'\\t'}") ;;
    esac
  done
  (( \${#found} )) && _describe -V bax found
  [[ "$kind" == :files ]] && _files
  return 0
}
if [[ "$funcstack[1]" == _bax ]]; then _bax "$@"; else compdef _bax bax; fi`,

  fish: `function __bax_complete
  set -l typed (commandline -opc) (commandline -ct)
  for line in ($typed[1] complete -- $typed[2..-1] 2>/dev/null)
    switch $line
      case :files
        __fish_complete_path (commandline -ct)
      case :none
      case '*'
        echo $line
    end
  end
end
complete -c bax -f -a '(__bax_complete)'`,
}
