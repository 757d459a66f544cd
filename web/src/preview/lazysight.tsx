// The view of decoded files. Its script is loaded with the first such file.
import type { ComponentType } from "preact";
import type { Format } from "../sight/formats";
import { Skeleton } from "../ui/components";
import { useLoad } from "../ui/load";
import type { ViewerProps } from "./props";
import { ReadError } from "./source";

type SightProps = ViewerProps & { format: Format };

export function LazySight(props: SightProps) {
  const { value, problem, reload } = useLoad(async () => ({ View: (await import("../sight/view")).SightView as ComponentType<SightProps> }), []);
  if (problem) return <ReadError problem={problem} retry={reload} />;
  return value ? <value.View {...props} /> : <Skeleton lines={10} />;
}
