/** Asks where a recording is to be kept, and writes it as a script. */
import { Box, Text } from 'ink'
import { basename, resolve } from 'node:path'
import { writeFile } from 'node:fs/promises'
import { Prompt } from '../components/prompt.tsx'
import { useHouse } from '../hooks/house.ts'
import type { Recording } from '../recording.ts'

interface SaveRecordingProps {
  readonly recording: Recording
  readonly width: number
  readonly onDone: () => void
}

export function SaveRecording({ recording, width, onDone }: SaveRecordingProps) {
  const { desk, say } = useHouse()
  const save = async (file: string) => {
    const path = resolve(desk.cwd, file)
    const text = await desk.script(recording.steps(), { name: basename(file).replace(/\.ya?ml$/i, '') })
    // What was typed may hold passwords; what exists already is somebody's.
    await writeFile(path, text, { flag: 'wx', mode: 0o600 })
    say(`kept in ${path}; run it with: bax run ${file}`, 'good')
    onDone()
  }
  return (
    <Box flexDirection="column" width={width} height={2}>
      <Prompt
        label=" keep the recording in: "
        width={width}
        initial={`${new Date().toISOString().slice(0, 19).replaceAll(/[-:]/g, '').replace('T', '-')}.yaml`}
        onSubmit={(file) => {
          save(file).catch((error: NodeJS.ErrnoException) =>
            say(error.code === 'EEXIST' ? `${file} exists; choose another name` : error.message, 'bad'),
          )
        }}
        onCancel={onDone}
      />
      <Text dimColor>{`  ${recording.commands.length} commands; Esc throws them away`}</Text>
    </Box>
  )
}
