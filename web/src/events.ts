/** Adds a listener for space-separated event types, such as "online offline". Returns a function
    that removes it. */
export function listen(target: EventTarget, types: string, listener: (e: any) => void, options: AddEventListenerOptions = {}): () => void {
  const control = new AbortController();
  for (const type of types.split(" ")) target.addEventListener(type, listener, { ...options, signal: control.signal });
  return () => control.abort();
}
