/** One shell session: its files with a viewer, its artifacts, commands with their output, and its terminal. */
import { Box, Text } from 'ink'
import { useState } from 'react'
import { Pager } from '../components/pager.tsx'
import { Prompt } from '../components/prompt.tsx'
import { Table } from '../components/table.tsx'
import { size } from '../format.ts'
import { dump, type FileRow, rowsOf } from '../shell-files.ts'
import { useHouse } from '../hooks/house.ts'
import { useAsk } from '../hooks/use-ask.ts'
import { useAttempt } from '../hooks/use-attempt.ts'
import { useExec } from '../hooks/use-exec.ts'
import { useKeys } from '../hooks/use-keys.ts'
import type { Link } from '../link.ts'
import { plain } from '../terminal/plain.ts'
import type { ScreenProps } from './screen-props.ts'

const every = 3000
/** Bytes of a file that the viewer shows. */
const viewedBytes = 256 * 1024

const panels = ['files', 'artifacts', 'output'] as const
type Panel = (typeof panels)[number]

interface ShellViewProps extends ScreenProps {
  readonly id: string
  readonly onClose: () => void
}

export function ShellView(props: ShellViewProps) {
  const { width, height, id } = props
  const view = useShellView(props)
  if (view.reading) return <Pager {...view.reading} width={width} height={height} onClose={view.stopReading} />
  return (
    <Box flexDirection="column" width={width} height={height}>
      {view.isTyping ? (
        <Prompt label=" $ " width={width} onSubmit={view.submit} onCancel={view.stopTyping} />
      ) : (
        <Text wrap="truncate">
          <Text bold>{` ${plain(view.shell?.name ?? id)} `}</Text>
          {panels.map((name) => (
            <Text key={name} inverse={name === view.panel} dimColor={name !== view.panel}>{` ${name} `}</Text>
          ))}
          <Text
            dimColor
          >{`  ${view.exec.isRunning ? 'a command runs' : (view.shell?.status ?? '')} ${view.files.folder}`}</Text>
        </Text>
      )}
      <ShellPanel {...props} view={view} />
    </Box>
  )
}

/** What is known of the session, and what the keys do. */
function useShellView({ id, onClose }: ShellViewProps) {
  const { desk, link, say, away } = useHouse()
  const [panel, setPanel] = useState<Panel>('files')
  const files = useFiles(id, panel)
  const [isTyping, setTyping] = useState(false)
  const [reading, setReading] = useState<{ title: string; text: string } | null>(null)
  const { answer: shell } = useAsk('getShell', { session_id: id }, { every })
  const attempt = useAttempt()
  const exec = useExec(id, files.refresh)
  const attach = () => {
    const { child } = desk
    if (!child) return say('a terminal needs an engine that outlives this program: start without --embedded', 'bad')
    void attempt(async () => {
      await away(async () => void (await child(['shell', 'attach', '-s', id])))
      files.refresh()
    })
  }
  useKeys(
    'screen',
    {
      title: 'Shell session',
      bindings: [
        { keys: ['i', ':'], does: 'run a command', run: () => setTyping(true) },
        { keys: ['a'], does: 'attach a terminal', run: attach },
        { keys: ['tab'], does: 'the next panel', run: () => setPanel(after(panel)) },
        { keys: ['u'], does: 'look again', run: files.refresh },
        { keys: ['h', 'left'], does: 'the folder above', run: files.up },
        ...(exec.isRunning ? [{ keys: ['s'], does: 'stop the command', run: exec.stop }] : []),
        { keys: ['escape', 'q'], does: 'back to the list', run: onClose },
      ],
    },
    reading === null,
  )
  return {
    shell,
    panel,
    files,
    exec,
    isTyping,
    reading,
    stopReading: () => setReading(null),
    stopTyping: () => setTyping(false),
    submit(command: string) {
      setTyping(false)
      if (command.trim() === '') return
      setPanel('output')
      exec.run(command)
    },
    open({ path, isFolder }: FileRow) {
      if (isFolder) return files.enter(path)
      void attempt(async () => setReading(await readFile(link, id, path)))
    },
    read: setReading,
  }
}

/** The folder that is looked at, and what commands have left behind. */
function useFiles(session_id: string, panel: Panel) {
  const [folder, setFolder] = useState('/workspace')
  const tree = useAsk(
    'shellFileTree',
    { session_id, path: folder, max_depth: 3 },
    { every: 0, active: panel === 'files' },
  )
  const artifacts = useAsk('listArtifacts', { session_id }, { every: 0, active: panel === 'artifacts' })
  return {
    folder,
    tree,
    artifacts,
    enter: setFolder,
    up: () => setFolder(above(folder)),
    refresh() {
      tree.again()
      artifacts.again()
    },
  }
}

async function readFile(link: Link, session_id: string, path: string) {
  const file = await link.ask('readShellFile', { session_id, path, length: viewedBytes })
  const text = file.encoding === 'utf8' ? file.content : dump(Buffer.from(file.content, 'base64'))
  return { title: `${path} (${size(file.size)}${file.eof ? '' : ', its beginning'})`, text }
}

const after = (panel: Panel): Panel => panels[(panels.indexOf(panel) + 1) % panels.length]!

const above = (folder: string): string => folder.replace(/\/[^/]+\/?$/, '') || '/'

function ShellPanel({ width, height, view }: ShellViewProps & { readonly view: ReturnType<typeof useShellView> }) {
  const { panel, exec } = view
  const { tree, artifacts } = view.files
  const box = { width, height: height - 1, active: !view.isTyping }
  if (panel === 'output')
    return <Pager title=" Output" text={exec.text || 'i runs a command; a attaches a terminal'} follow {...box} />
  if (panel === 'files')
    return (
      <Table
        title="Files"
        rows={tree.answer ? rowsOf(tree.answer.root, 0) : []}
        keyOf={({ path }) => path}
        columns={[
          { head: 'NAME', of: ({ label }) => label },
          { head: 'SIZE', of: ({ isFolder, size: bytes }) => (isFolder ? '' : size(bytes)), width: 8, side: 'right' },
        ]}
        empty={tree.error?.message ?? (tree.answer ? 'an empty folder' : 'looking …')}
        onOpen={view.open}
        {...box}
      />
    )
  const files = artifacts.answer?.artifacts.flatMap(({ artifact_id, files }) =>
    files.map((file) => ({ artifact_id, file })),
  )
  return (
    <Table
      title="Artifacts"
      rows={files ?? []}
      keyOf={({ artifact_id, file }) => `${artifact_id} ${file.name}`}
      columns={[
        { head: 'FILE', of: ({ file }) => file.path },
        { head: 'SIZE', of: ({ file }) => size(file.size), width: 8, side: 'right' },
        { head: 'TYPE', of: ({ file }) => file.content_type, width: 20 },
        { head: 'ARTIFACT', of: ({ artifact_id }) => artifact_id, width: 26 },
      ]}
      empty={artifacts.error?.message ?? (files ? 'nothing was left in the output folders yet' : 'looking …')}
      onOpen={({ artifact_id, file }) =>
        view.read({
          title: file.path,
          text: `${JSON.stringify(file, null, 2)}\n\nbax shell artifacts download ${artifact_id} ${file.name}`,
        })
      }
      {...box}
    />
  )
}
