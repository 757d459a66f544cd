/** What every page gets: the parameters that its address names, such as `did`. */
export type PageProps = { params: Record<string, string> };
