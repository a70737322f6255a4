import { AppError, toAppError } from '@mcpbridge/shared/errors.js';
import { invalid, notAllowed, quoted } from './paths.js';

/** What the system says about a path, as an answer to whoever asked for it. */
export function fileError(thrown: unknown, path: string): AppError {
  if (thrown instanceof AppError) return thrown;
  const { code } = thrown as NodeJS.ErrnoException;
  switch (code) {
    case 'ENOENT':
      return new AppError('NOT_FOUND', `There is no file or folder ${quoted(path)}.`, { cause: thrown });
    case 'ENOTDIR':
      return new AppError(
        'NOT_FOUND',
        `There is no file or folder ${quoted(path)}: a part of the path is no folder.`,
      );
    case 'EEXIST':
      return new AppError('CONFLICT', `There is something at ${quoted(path)} already.`, { cause: thrown });
    case 'EISDIR':
      return new AppError('CONFLICT', `${quoted(path)} is a folder.`, { cause: thrown });
    case 'ENOTEMPTY':
      return new AppError('CONFLICT', `The folder ${quoted(path)} is not empty.`, { cause: thrown });
    case 'ELOOP':
      return notAllowed(path, 'is a link that may not be followed');
    case 'ENAMETOOLONG':
      return invalid(path, 'is too long');
    case 'EINVAL':
      return invalid(path, 'is no path for this');
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
      return notAllowed(path, 'may not be used so: the file system refuses it');
    case 'ENXIO':
    case 'ENODEV':
      return notAllowed(path, 'is no file');
    case 'ENOSPC':
    case 'EDQUOT':
      return new AppError('NO_SPACE', 'The disk of the workspace is full.', { cause: thrown });
    default:
      return toAppError(thrown);
  }
}
