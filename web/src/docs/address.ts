// The examples of the documents contain a reserved address. It is replaced by the address of this service.
import { base } from "../api";

const example = "https://data.example.org";

export const withOwnAddress = (text: string) => text.replaceAll(example, location.origin + base);
