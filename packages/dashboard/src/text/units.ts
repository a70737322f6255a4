const THIN = ' ';

/** Three significant digits with the unit after a thin space: `0 ms`, `812 ms`, `1.20 s`, `41 s`, `4 min 12 s`. */
export function duration(ms: number): string {
  if (ms < 0.95) return ms < 0.05 ? `0${THIN}ms` : `${ms.toFixed(1)}${THIN}ms`;
  if (ms < 999.5) return `${digits(ms)}${THIN}ms`;
  if (ms < 59_950) return `${digits(ms / 1000)}${THIN}s`;
  const minutes = Math.floor(ms / 60_000);
  if (minutes < 60) return `${minutes}${THIN}min ${Math.floor((ms % 60_000) / 1000)}${THIN}s`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours}${THIN}h ${minutes % 60}${THIN}min` : `${Math.floor(hours / 24)}${THIN}d`;
}

export function bytes(count: number): string {
  if (count < 1000) return `${count}${THIN}B`;
  if (count < 999_500) return `${digits(count / 1000)}${THIN}kB`;
  if (count < 999_500_000) return `${digits(count / 1_000_000)}${THIN}MB`;
  return `${digits(count / 1_000_000_000)}${THIN}GB`;
}

export function count(value: number): string {
  if (value < 1_000_000) return value.toLocaleString('en');
  return `${digits(value / 1_000_000)}${THIN}M`;
}

export function percent(share: number): string {
  return share === 0 ? `0${THIN}%` : `${digits(share * 100)}${THIN}%`;
}

function digits(value: number): string {
  if (value >= 99.95) return Math.round(value).toString();
  return value >= 9.995 ? value.toFixed(value >= 20 ? 0 : 1) : value.toFixed(value % 1 === 0 ? 0 : 2);
}

const two = (value: number) => String(value).padStart(2, '0');

/** Local time of day with milliseconds. */
export function clock(at: number): string {
  const time = new Date(at);
  const ms = String(time.getMilliseconds()).padStart(3, '0');
  return `${two(time.getHours())}:${two(time.getMinutes())}:${two(time.getSeconds())}.${ms}`;
}

/** `09:41` today, else `28 Nov 09:41`. */
export function shortTime(at: number, now = Date.now()): string {
  const time = new Date(at);
  const day = time.toDateString() === new Date(now).toDateString();
  const hour = `${two(time.getHours())}:${two(time.getMinutes())}`;
  return day ? hour : `${time.toLocaleDateString('en-GB', { day: 'numeric', month: 'short' })} ${hour}`;
}

/** For the title of a time: date, local time and UTC. */
export function wholeTime(at: number): string {
  const time = new Date(at);
  return `${time.toLocaleString('en-GB')} · ${time.toISOString()} UTC`;
}

/** `now`, `4 min ago`, `in 22 h`. */
export function relative(at: number, now = Date.now()): string {
  const away = Math.abs(at - now);
  if (away < 2000) return 'now';
  const [value, unit] =
    away < 60_000
      ? [away / 1000, 's']
      : away < 3_600_000
        ? [away / 60_000, 'min']
        : away < 172_800_000
          ? [away / 3_600_000, 'h']
          : [away / 86_400_000, 'days'];
  const words = `${Math.floor(value)}${THIN}${unit}`;
  return at > now ? `in ${words}` : `${words} ago`;
}
