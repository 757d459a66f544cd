// The used part of a quota, and a warning before it is full.
import { dataspaces, users } from "../api";
import { size } from "../format";
import { Size } from "../ui/components";
import { Icon } from "../ui/icons";
import { useLoad } from "../ui/load";

/** The fraction of a quota at which the warning appears. */
const nearlyFull = 0.8;

/** The used bytes and the quota; without a quota there is no limit. */
export interface Share {
  used: number;
  quota?: number | undefined;
}

export const isNearlyFull = ({ used, quota }: Share) => !!quota && used >= nearlyFull * quota;

const percentOf = ({ used, quota = 1 }: Share) => `${Math.floor((100 * used) / quota)} %`;

/** The bytes used, and a bar with the quota. */
export function QuotaMeter({ share, label }: { share: Share; label: string }) {
  if (!share.quota) return null;
  return (
    <div class="quota">
      <p>
        {label}: <Size bytes={share.used} /> of <Size bytes={share.quota} /> ({percentOf(share)})
      </p>
      <meter min={0} max={share.quota} high={nearlyFull * share.quota} optimum={0} value={share.used} aria-label={label} />
      {isNearlyFull(share) && <QuotaWarning text={`${percentOf(share)} of this quota are used.`} />}
    </div>
  );
}

export function QuotaWarning({ text }: { text: string }) {
  return (
    <div class="note bad" role="status">
      <Icon name="warning" />
      <div>
        <p>{text}</p>
        <p class="dim">Deleted files and older versions count until a sysadmin purges them. Ask a sysadmin to purge them, or for a larger quota.</p>
      </div>
    </div>
  );
}

/** Warns about files that do not fit into a quota of the dataspace or the user, or nearly fill it.
 */
export function UploadWarning({ did, bytes }: { did: string; bytes: number }) {
  const { value } = useLoad(async () => {
    const [space, own] = await Promise.all([dataspaces.usage(did), users.usage("me")]);
    return [
      { whose: "of this dataspace", used: space.activeBytes + space.deletedBytes + space.oldBytes, quota: space.quota },
      { whose: "of your account", ...own },
    ];
  }, [did]);
  return (
    <>
      {value?.filter((s) => isNearlyFull({ ...s, used: s.used + bytes })).map(({ whose, ...s }) => (
        <QuotaWarning
          key={whose}
          text={
            s.used + bytes > s.quota!
              ? `Not everything fits: the quota ${whose} has ${size(Math.max(0, s.quota! - s.used))} left.`
              : `After this upload ${percentOf({ ...s, used: s.used + bytes })} of the quota ${whose} are used.`
          }
        />
      ))}
    </>
  );
}
