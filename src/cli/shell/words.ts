/** The commands of shell sessions that are written by hand. */
import type { OwnEntry } from '../parse/command-table.ts'

export const shellWords: readonly OwnEntry[] = [
  {
    words: 'shell create',
    summary: 'Create a shell session: a container of its own',
    example: 'bax shell create --language python',
  },
  {
    words: 'shell exec',
    rest: '[--] <command> …',
    summary: 'Run a command in a shell session, as if it ran here',
    example: 'bax shell exec -s sh_… -- python3 -c "print(6 * 7)"',
  },
  {
    words: 'shell attach',
    rest: '[command…]',
    summary: 'Work in a shell session from this terminal',
    example: 'bax shell attach -s sh_…',
  },
  {
    words: 'shell read',
    rest: '<path>',
    summary: 'Print a file of a shell session as it is',
    example: 'bax shell read -s sh_… report.txt',
  },
  {
    words: 'shell write',
    rest: '<path>',
    summary: 'Write standard input, or --content, to a file of a shell session',
    example: 'bax shell write -s sh_… main.py < main.py',
  },
  {
    words: 'shell tree',
    rest: '[path]',
    summary: 'Show a directory of a shell session as a tree',
    example: 'bax shell tree -s sh_… --max-depth 2',
  },
  {
    words: 'shell search',
    rest: '[path]',
    summary: 'Search the files of a shell session by name and content',
    example: "bax shell search -s sh_… --pattern '**/*.py' --query TODO",
  },
  {
    words: 'shell upload',
    rest: '<file> [path]',
    summary: 'Upload a file into a shell session, of any size',
    example: 'bax shell upload -s sh_… data.csv',
  },
  {
    words: 'shell download',
    rest: '<path>',
    summary: 'Download a file of a shell session, of any size',
    example: 'bax shell download -s sh_… /output/plot.png',
  },
  {
    words: 'shell artifacts list',
    summary: 'List what commands have left in the output mounts',
    example: 'bax shell artifacts list -s sh_…',
  },
  {
    words: 'shell artifacts download',
    rest: '<artifact-id> [file-name]',
    summary: 'Download one file of an artifact, or all of them into a folder',
    example: 'bax shell artifacts download art_… plot.png',
  },
  {
    words: 'shell image build',
    summary: 'Build an image for shell sessions on this machine, without a registry',
    example: 'bax shell image build',
  },
]
