// The examples of the documents contain a reserved address, which is replaced by the address of
// this service.
import { base } from "../api";

const example = "https://data.example.org";
const own = location.origin + base;

/** In GNOME, WebDAV has the scheme dav, or davs over TLS. */
const forGnome = (address: string) => address.replace(/^http/, "dav");

export const withOwnAddress = (text: string) => text.replaceAll(example, own).replaceAll(forGnome(example), forGnome(own));
