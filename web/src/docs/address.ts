// The examples of the documents contain a reserved address. It is replaced by the address of this service.
import { base } from "../api";

const example = "https://data.example.org";
const own = location.origin + base;

/** GNOME calls WebDAV dav, and over TLS davs. */
const forGnome = (address: string) => address.replace(/^http/, "dav");

export const withOwnAddress = (text: string) => text.replaceAll(example, own).replaceAll(forGnome(example), forGnome(own));
