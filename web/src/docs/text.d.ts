/** The bundler replaces the import by the text of the file. */
declare module "*.md" {
  const text: string;
  export default text;
}
