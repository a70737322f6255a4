import {
  Activity,
  BarChart3,
  Bot,
  type LucideIcon,
  Server,
  Settings,
  ShieldQuestion,
  Users,
  Wrench,
} from 'lucide-react';

export interface Place {
  path: string;
  label: string;
  /** Second key after G. */
  key: string;
  icon: LucideIcon;
}

export const PLACES: readonly Place[] = [
  { path: '/', label: 'Live', key: 'l', icon: Activity },
  { path: '/approvals', label: 'Approvals', key: 'a', icon: ShieldQuestion },
  { path: '/sessions', label: 'Sessions', key: 's', icon: Users },
  { path: '/servers', label: 'Servers', key: 'v', icon: Server },
  { path: '/tools', label: 'Tools', key: 't', icon: Wrench },
  { path: '/stats', label: 'Statistics', key: 'c', icon: BarChart3 },
  { path: '/runs', label: 'Agent runs', key: 'r', icon: Bot },
  { path: '/settings', label: 'Settings', key: ',', icon: Settings },
];
