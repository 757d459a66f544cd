/** Caches responses by id. Each is requested once; a failed request is repeated. */
export class Cache<T> {
  private answers = new Map<string, Promise<T>>();

  constructor(private readonly request: (id: string) => Promise<T>) {}

  get(id: string): Promise<T> {
    let answer = this.answers.get(id);
    if (!answer) {
      answer = this.request(id);
      this.answers.set(id, answer);
      answer.catch(() => this.answers.delete(id));
    }
    return answer;
  }
}
