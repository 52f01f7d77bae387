import type { LogErrorName } from '../../actors/ports.ts';
import type { Profile } from '../../machines/model/profile.ts';
import type { Said } from './play-member.ts';

/** One step of a history. What is done to clients happens at once; `turn` lets everybody concerned get on with it. */
export type Step =
  | { readonly kind: 'beat'; readonly who: number; readonly said: Said; readonly lost: boolean }
  | { readonly kind: 'join'; readonly who: number; readonly lost: boolean }
  | { readonly kind: 'leave' | 'commit'; readonly who: number }
  | { readonly kind: 'pass'; readonly ms: number }
  | { readonly kind: 'failAppend'; readonly error: LogErrorName }
  | { readonly kind: 'standbys'; readonly count: number }
  | {
      readonly kind:
        | 'turn'
        | 'grow'
        | 'vanish'
        | 'holdLog'
        | 'releaseLog'
        | 'holdRuns'
        | 'releaseRuns'
        | 'failRun'
        | 'extra'
        | 'holdSearches'
        | 'releaseSearches'
        | 'failSearches'
        | 'delete'
        | 'restart';
    };

export type LawOptions = {
  readonly profile: Profile;
  readonly delayMs: number;
  readonly intervalMs: number;
  readonly warmups: number;
  /** Every assignment moves every task, rather than as few as it can. */
  readonly restless: boolean;
};
