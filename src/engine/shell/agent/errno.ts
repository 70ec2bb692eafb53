/** Names of Linux error numbers, identical on x64 and arm64; the engine may run on another system. */
const names: Record<number, string> = {
  1: 'EPERM', 2: 'ENOENT', 3: 'ESRCH', 4: 'EINTR', 5: 'EIO', 6: 'ENXIO', 7: 'E2BIG', 8: 'ENOEXEC', 9: 'EBADF',
  10: 'ECHILD', 11: 'EAGAIN', 12: 'ENOMEM', 13: 'EACCES', 14: 'EFAULT', 16: 'EBUSY', 17: 'EEXIST', 18: 'EXDEV',
  19: 'ENODEV', 20: 'ENOTDIR', 21: 'EISDIR', 22: 'EINVAL', 23: 'ENFILE', 24: 'EMFILE', 25: 'ENOTTY', 26: 'ETXTBSY',
  27: 'EFBIG', 28: 'ENOSPC', 29: 'ESPIPE', 30: 'EROFS', 31: 'EMLINK', 32: 'EPIPE', 36: 'ENAMETOOLONG',
  39: 'ENOTEMPTY', 40: 'ELOOP', 75: 'EOVERFLOW', 95: 'EOPNOTSUPP', 110: 'ETIMEDOUT', 116: 'ESTALE', 122: 'EDQUOT',
  125: 'ECANCELED',
} // prettier-ignore

export const errorName = (number: number): string => names[number] ?? `E${number}`
