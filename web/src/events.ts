/** Adds a listener for events of some types, such as "online offline", and returns what removes it. */
export function listen(target: EventTarget, types: string, listener: (e: any) => void, options: AddEventListenerOptions = {}): () => void {
  const control = new AbortController();
  for (const type of types.split(" ")) target.addEventListener(type, listener, { ...options, signal: control.signal });
  return () => control.abort();
}
