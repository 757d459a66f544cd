/** The props of every page: the parameters in its address, such as `did`. */
export type PageProps = { params: Record<string, string> };
