const POSIX = ['HOME', 'LOGNAME', 'PATH', 'SHELL', 'TERM', 'USER', 'LANG', 'TMPDIR'];
const WINDOWS = [
  'APPDATA',
  'COMSPEC',
  'HOMEDRIVE',
  'HOMEPATH',
  'LOCALAPPDATA',
  'PATH',
  'PATHEXT',
  'PROCESSOR_ARCHITECTURE',
  'PROGRAMDATA',
  'PROGRAMFILES',
  'SYSTEMDRIVE',
  'SYSTEMROOT',
  'TEMP',
  'TMP',
  'USERNAME',
  'USERPROFILE',
  'WINDIR',
];

/** What a server's process gets to see: the allow-listed part of our own environment, and what its entry adds. */
export function childEnvironment(own: NodeJS.ProcessEnv, added: Record<string, string>): NodeJS.ProcessEnv {
  const names = process.platform === 'win32' ? WINDOWS : POSIX;
  const env: NodeJS.ProcessEnv = {};
  for (const [name, value] of Object.entries(own)) {
    // A value that starts so is a shell function exported by bash, which a shell below would run.
    if (value === undefined || value.startsWith('()')) continue;
    if (names.includes(name) || name.startsWith('LC_')) env[name] = value;
  }
  return { ...env, ...added };
}
