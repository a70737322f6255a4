import type { CallRow } from '@mcpbridge/shared/call-row.js';

export const isOver = ({ status }: CallRow): boolean => status !== 'running' && status !== 'waiting';
export const isBad = ({ status }: CallRow): boolean => status === 'failed' || status === 'refused';
