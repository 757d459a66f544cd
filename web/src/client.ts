// The only door to the service: every request of the pages goes through here, over the public interface.

// base is the path below which the service lives, "" or like "/shelf": the shell says it.
export const base = document.documentElement.dataset["base"] ?? "";

// Problem is a refusal of the service (application/problem+json).
export class Problem extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    detail: string,
    readonly field?: string,
  ) {
    super(detail);
  }
}

export interface Session {
  username: string;
  sysadmin: boolean;
}

async function call(method: string, path: string, body?: unknown): Promise<Response> {
  const init: RequestInit = { method, credentials: "same-origin" };
  if (body !== undefined) {
    init.headers = { "Content-Type": "application/json" };
    init.body = JSON.stringify(body);
  }
  const answer = await fetch(base + "/v1" + path, init);
  if (!answer.ok) {
    const said = await answer.json().catch(() => ({}));
    throw new Problem(answer.status, said.code ?? "", said.detail ?? answer.statusText, said.field);
  }
  return answer;
}

// whoAmI returns who is signed in, null where nobody is.
export async function whoAmI(): Promise<Session | null> {
  try {
    return await (await call("GET", "/users/me")).json();
  } catch (err) {
    if (err instanceof Problem && err.status === 401) return null;
    throw err;
  }
}

export async function signIn(key: string): Promise<Session> {
  return (await call("POST", "/session", { key })).json();
}

export async function signOut(): Promise<void> {
  await call("DELETE", "/session");
}
