import { AppError, messageOf } from '@mcpbridge/shared/errors.js';
import { isObject } from '@mcpbridge/shared/json-rpc.js';
import { addressText, type EngineAddress } from './address.js';

/** Why a container did not come to be, in a sentence that says what to do. */
export function containerFailure(
  server: string,
  image: string,
  address: EngineAddress,
  error: unknown,
): AppError {
  const { code, statusCode, said } = partsOf(error);
  const sentence =
    code === undefined ? refusal(image, statusCode, said) : unreachable(addressText(address), code, said);
  return new AppError('PROVIDER_UNAVAILABLE', `Server "${server}": ${sentence}`, { cause: error });
}

function unreachable(address: string, code: string, said: string): string {
  const engine = `the container engine at ${address}`;
  if (code === 'ENOENT') return `there is no container engine at ${address}; start Docker or Podman.`;
  if (code === 'ECONNREFUSED') return `${engine} does not answer; start Docker or Podman.`;
  if (code === 'EACCES' || code === 'EPERM')
    return `${engine} may not be used by this user; let the user into its group ("docker"), or set DOCKER_HOST to an engine of the user's own.`;
  return `${engine} broke off: ${said}.`;
}

function refusal(image: string, statusCode: number | undefined, said: string): string {
  if (statusCode === 404 && /no such image|image not known/i.test(said))
    return `the image "${image}" is not on this machine; get it with "docker pull ${image}" (or podman's), it is not fetched by itself.`;
  const program = /exec: \\?"([^"\\]+)\\?"/.exec(said)?.[1];
  if (program !== undefined && /permission denied/i.test(said))
    return `the command "${program}" in the image "${image}" may not be run: it is not executable.`;
  if (program !== undefined && /not found|no such file/i.test(said))
    return `the command "${program}" was not found in the image "${image}".`;
  return `the container engine refused a container of "${image}": ${said}.`;
}

function partsOf(error: unknown): { code?: string; statusCode?: number; said: string } {
  const { code, statusCode, json } = isObject(error) ? error : {};
  const said = isObject(json) && typeof json.message === 'string' ? json.message : messageOf(error);
  return {
    ...(typeof code === 'string' ? { code } : {}),
    ...(typeof statusCode === 'number' ? { statusCode } : {}),
    said: said.trim().replace(/\.$/, ''),
  };
}

/** True when what was to be removed is gone already, or somebody is removing it. */
export function isGone(error: unknown): boolean {
  const { statusCode, said } = partsOf(error);
  return statusCode === 404 || (statusCode === 409 && said.includes('in progress'));
}
