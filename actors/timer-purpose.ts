/** What a shard's timers are for. */
export type TimerPurpose =
  | { readonly type: 'session'; readonly groupId: string; readonly memberId: string }
  | {
      readonly type: 'rebalance';
      readonly groupId: string;
      readonly memberId: string;
      readonly memberEpoch: number;
    }
  | { readonly type: 'initialDelay'; readonly groupId: string }
  | { readonly type: 'answerWait'; readonly groupId: string; readonly run: number }
  | { readonly type: 'sweep' };
