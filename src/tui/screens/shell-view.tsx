/** The view of one shell session: files with a viewer, artifacts, commands with their output, and its terminal. */
import { Box, Text } from 'ink'
import { useState } from 'react'
import { Pager } from '../components/pager.tsx'
import { cycle, PanelBar } from '../components/panel-bar.tsx'
import { Prompt } from '../components/prompt.tsx'
import { Table } from '../components/table.tsx'
import { formatSize } from '../format.ts'
import { dump, type FileRow, rowsOf } from '../shell-files.ts'
import { useAttempt, useAppContext, useKeys } from '../hooks/app-context.ts'
import { usePolling } from '../hooks/use-polling.ts'
import { useExec } from '../hooks/use-exec.ts'
import type { Link } from '../link.ts'
import { plain } from '../../core/text/plain.ts'
import type { ViewProps } from '../components/list-page.tsx'

const maxViewedBytes = 256 * 1024

const panels = ['files', 'artifacts', 'output'] as const
type Panel = (typeof panels)[number]

export function ShellView(props: ViewProps<string>) {
  const { width, height, item: id } = props
  const view = useShellView(props)
  if (view.reading) return <Pager {...view.reading} width={width} height={height} onClose={() => view.read(null)} />
  return (
    <Box flexDirection="column" width={width} height={height}>
      {view.isTyping ? (
        <Prompt label=" $ " width={width} onSubmit={view.submit} onCancel={view.stopTyping} />
      ) : (
        <Text wrap="truncate">
          <Text bold>{` ${plain(view.shell?.name ?? id)} `}</Text>
          <PanelBar panels={panels} shown={view.panel} />
          <Text dimColor>
            {`  ${view.exec.isRunning ? 'running a command' : (view.shell?.status ?? '')} ${view.files.folder}`}
          </Text>
        </Text>
      )}
      <ShellPanel {...props} view={view} />
    </Box>
  )
}

/** Returns the state of the view, and binds its keys. */
function useShellView({ item: id, onClose }: ViewProps<string>) {
  const { host, link, notify, suspend } = useAppContext()
  const [panel, setPanel] = useState<Panel>('files')
  const files = useFiles(id, panel)
  const [isTyping, setTyping] = useState(false)
  const [reading, setReading] = useState<{ title: string; text: string } | null>(null)
  const { answer: shell } = usePolling('getShell', { session_id: id }, { every: 3000 })
  const attempt = useAttempt()
  const exec = useExec(id, files.refresh)
  const attach = () => {
    const { runBax } = host
    if (!runBax) return notify('cannot attach a terminal with --embedded: start bax tui without it', 'bad')
    void attempt(async () => {
      await suspend(async () => void (await runBax(['shell', 'attach', '-s', id])))
      files.refresh()
    })
  }
  useKeys(
    'screen',
    {
      title: 'Shell session',
      bindings: [
        { keys: ['i', ':'], label: 'run a command', run: () => setTyping(true) },
        { keys: ['a'], label: 'attach a terminal', run: attach },
        { keys: ['tab'], label: 'next panel', run: () => setPanel(cycle(panels, panel)) },
        { keys: ['u'], label: 'refresh', run: files.refresh },
        { keys: ['h', 'left'], label: 'parent folder', run: files.up },
        ...(exec.isRunning ? [{ keys: ['s'], label: 'stop the command', run: exec.stop }] : []),
        { keys: ['escape', 'q'], label: 'back to the list', run: onClose },
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

/** Returns the shown folder and the artifacts of the session. */
function useFiles(session_id: string, panel: Panel) {
  const [folder, setFolder] = useState('/workspace')
  const treeInput = { session_id, path: folder, max_depth: 3 }
  const tree = usePolling('shellFileTree', treeInput, { every: 0, active: panel === 'files' })
  const artifacts = usePolling('listArtifacts', { session_id }, { every: 0, active: panel === 'artifacts' })
  return {
    folder,
    tree,
    artifacts,
    enter: setFolder,
    up: () => setFolder(folder.replace(/\/[^/]+\/?$/, '') || '/'),
    refresh() {
      tree.refresh()
      artifacts.refresh()
    },
  }
}

async function readFile(link: Link, session_id: string, path: string) {
  const file = await link.call('readShellFile', { session_id, path, length: maxViewedBytes })
  const text = file.encoding === 'utf8' ? file.content : dump(Buffer.from(file.content, 'base64'))
  return { title: `${path} (${formatSize(file.size)}${file.eof ? '' : ', truncated'})`, text }
}

function ShellPanel({ width, height, view }: ViewProps<string> & { readonly view: ReturnType<typeof useShellView> }) {
  const { panel, exec } = view
  const { tree, artifacts } = view.files
  const box = { width, height: height - 1, active: !view.isTyping }
  if (panel === 'output')
    return (
      <Pager title=" Output" text={exec.text || 'press i to run a command, a to attach a terminal'} follow {...box} />
    )
  if (panel === 'files')
    return (
      <Table
        title="Files"
        rows={tree.answer ? rowsOf(tree.answer.root, 0) : []}
        keyOf={({ path }) => path}
        columns={[
          { head: 'NAME', of: ({ label }) => label },
          {
            head: 'SIZE',
            of: ({ isFolder, size: bytes }) => (isFolder ? '' : formatSize(bytes)),
            width: 8,
            side: 'right',
          },
        ]}
        empty={tree.error?.message ?? (tree.answer ? 'the folder is empty' : 'loading …')}
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
        { head: 'SIZE', of: ({ file }) => formatSize(file.size), width: 8, side: 'right' },
        { head: 'TYPE', of: ({ file }) => file.content_type, width: 20 },
        { head: 'ARTIFACT', of: ({ artifact_id }) => artifact_id, width: 26 },
      ]}
      empty={artifacts.error?.message ?? (files ? 'no artifacts yet' : 'loading …')}
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
