import { useHouse } from './house.ts'

/** Does something that may fail: the failure is told in the last line. `after` is called either way. */
export function useAttempt(after: () => void = () => {}): (work: () => Promise<void>) => Promise<void> {
  const { say } = useHouse()
  return async (work) => {
    try {
      await work()
    } catch (error) {
      say((error as Error).message, 'bad')
    }
    after()
  }
}
