/** Asks for a file name and saves a recording as a script. */
import { Box, Text } from 'ink'
import { basename, resolve } from 'node:path'
import { writeFile } from 'node:fs/promises'
import { Prompt } from '../components/prompt.tsx'
import { useAppContext } from '../hooks/app-context.ts'
import type { Recording } from '../hooks/use-recording.ts'

interface SaveRecordingProps {
  readonly recording: Recording
  readonly width: number
  readonly onDone: () => void
}

export function SaveRecording({ recording, width, onDone }: SaveRecordingProps) {
  const { host, notify } = useAppContext()
  const save = async (file: string) => {
    const path = resolve(host.cwd, file)
    const text = await host.script(recording.steps(), { name: basename(file).replace(/\.ya?ml$/i, '') })
    // Typed text may contain passwords, so the file is private. Existing files are not overwritten.
    await writeFile(path, text, { flag: 'wx', mode: 0o600 })
    notify(`saved to ${path}; run it with: bax run ${file}`, 'good')
    onDone()
  }
  return (
    <Box flexDirection="column" width={width} height={2}>
      <Prompt
        label=" save the recording to: "
        width={width}
        initial={`${new Date().toISOString().slice(0, 19).replaceAll(/[-:]/g, '').replace('T', '-')}.yaml`}
        onSubmit={(file) => {
          save(file).catch((error: NodeJS.ErrnoException) =>
            notify(error.code === 'EEXIST' ? `${file} exists; choose another name` : error.message, 'bad'),
          )
        }}
        onCancel={onDone}
      />
      <Text dimColor>{`  ${recording.commands.length} commands; Esc discards them`}</Text>
    </Box>
  )
}
