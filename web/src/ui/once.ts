/** Answers by id. Each is asked for once; one that failed is asked for again. */
export class Once<T> {
  private known = new Map<string, Promise<T>>();

  constructor(private readonly ask: (id: string) => Promise<T>) {}

  get(id: string): Promise<T> {
    let found = this.known.get(id);
    if (!found) {
      found = this.ask(id);
      this.known.set(id, found);
      found.catch(() => this.known.delete(id));
    }
    return found;
  }
}
