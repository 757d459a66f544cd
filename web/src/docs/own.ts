// Examples in our documents use an address that nobody has. Here they get the one that the visitor has come by.
import { base } from "../api";

const example = "https://data.example.org";

export const withOwnAddress = (text: string) => text.replaceAll(example, location.origin + base);
